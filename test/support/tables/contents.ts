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

/** What may befall a call to the outside: `n` counts writes and removals; `target` is the key of an object, if it is one's. */
export type Fate = (n: number, target: string) => 'pass' | 'fail before' | 'fail after' | Promise<void>

/** A bucket and the publisher's state, each write of which meets a fate. A promise is waited for before the write. */
export function fateful(world: TablesWorld, fateOf: Fate) {
  let calls = 0
  const meeting =
    <A extends unknown[], T>(call: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      const fate = fateOf(++calls, typeof args[0] === 'string' ? args[0] : '')
      if (fate === 'fail before') throw new Error('killed')
      if (fate instanceof Promise) await fate
      const answer = await call(...args)
      if (fate === 'fail after') throw new Error('killed')
      return answer
    }
  const { put, replace, copy, remove } = world.objects
  const objects: ObjectStore = {
    ...world.objects,
    ...{ put: meeting(put), replace: meeting(replace), copy: meeting(copy), remove: meeting(remove) },
  }
  const publications = { ...world.publications, save: meeting(world.publications.save) }
  return { objects, publications, calls: () => calls }
}

/** A process that dies at its `n`th write, before or after it was done: all that it tries later fails. */
export function dying(world: TablesWorld, n: number, when: 'before' | 'after') {
  return fateful(world, (call) => (call < n ? 'pass' : call === n ? `fail ${when}` : 'fail before'))
}

export function depsOver(world: TablesWorld, objects: ObjectStore): Partial<IcebergDeps> {
  const { pointers } = createTablesWorld({ objects }).icebergDeps()
  return { files: objects, pointers, retention: { days: 0, snapshots: 1 }, clock: world.clock }
}
