import { decodeManifest, decodeManifestList } from '../../../lib/publish/iceberg/manifests.ts'
import { currentSnapshot } from '../../../lib/publish/iceberg/metadata.ts'
import type { IcebergDeps } from '../../../lib/publish/iceberg/ports.ts'
import type { ObjectStore } from '../../../lib/stores/objects.ts'
import { identifiedColumnsOf } from '../../../lib/streams/field-ids.ts'
import { organizationUsers } from '../../../lib/streams/organization-users.ts'
import { createTablesWorld, type TablesWorld } from './tables-world.ts'

const [table] = organizationUsers.tables
/** The tables of the users: what happened, and how it is. */
export const userTables = [table.name, `${table.name}_current`]

/** The files that a table's current snapshot names: its manifest list, manifests and data files. */
export async function namedBy(world: TablesWorld, name: string, at = -1) {
  const keyOf = (address: string) => address.replace('memory://lake/', '')
  const found = await world.icebergDeps().pointers.find(name)
  const snapshot = at === -1 ? found && currentSnapshot(found.metadata) : found?.metadata.snapshots[at]
  const list = keyOf(snapshot?.['manifest-list'] ?? '')
  const manifests = decodeManifestList((await world.objects.get(list)) ?? new Uint8Array(), list)
  const entries = []
  for (const { manifest_path: path, sequence_number: sequence } of manifests) {
    entries.push(...decodeManifest((await world.objects.get(keyOf(path)))!, { path, sequence }))
  }
  const data = entries.filter(({ status }) => status !== 'deleted').map(({ file }) => keyOf(file.path))
  return { list, manifests: manifests.map(({ manifest_path: path }) => keyOf(path)), data }
}

/** All rows of both tables, as cells, in order. */
export async function contents(world: TablesWorld) {
  const columns = identifiedColumnsOf(table)
  const rows: Record<string, unknown[]> = {}
  for (const name of userTables) {
    const found: unknown[] = []
    for (const key of (await namedBy(world, name)).data) {
      for await (const group of world.icebergDeps().rows.read((await world.objects.get(key))!, columns)) {
        for (const [row] of (group[0] ?? []).entries()) found.push(columns.map((_, at) => group[at]?.[row]))
      }
    }
    rows[name] = found.map((row) => JSON.stringify(row)).sort()
  }
  return rows
}

/** A bucket whose `n`th write or removal fails, before or after it was done; as if the process had died. */
export function dying(
  objects: ObjectStore,
  n: number,
  when: 'before' | 'after',
): { objects: ObjectStore; calls: () => number } {
  let calls = 0
  const fateful =
    <A extends unknown[]>(call: (...args: A) => Promise<void>) =>
    async (...args: A) => {
      calls += 1
      if (calls >= n && when === 'before') throw new Error('killed')
      await call(...args)
      if (calls >= n) throw new Error('killed')
    }
  return { objects: { ...objects, put: fateful(objects.put), remove: fateful(objects.remove) }, calls: () => calls }
}

export function depsOver(world: TablesWorld, objects: ObjectStore): Partial<IcebergDeps> {
  const { pointers } = createTablesWorld({ objects }).icebergDeps()
  return { files: objects, pointers, retention: { days: 0, snapshots: 1 }, clock: world.clock }
}
