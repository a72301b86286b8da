import { decodeManifest, decodeManifestList } from '../../../lib/publish/iceberg/manifests.ts'
import { currentSnapshot, TableMetadata } from '../../../lib/publish/iceberg/metadata.ts'
import { rowFiles } from '../../../lib/stores/row-files.ts'
import { identifiedColumnsOf } from '../../../lib/streams/field-ids.ts'
import { type Stream, tablesOf } from '../../../lib/streams/stream.ts'
import type { Contents } from './storage.ts'

/** The rows that a reader of an Iceberg table finds: key, operation and hash, in order. */
export type TablesView = Record<string, string[]>

const hint = /^iceberg\/(\w+)\/metadata\/version-hint\.text$/

/** What the Iceberg tables show. Throws when a table names an object that is not there. */
export async function tablesViewOf(contents: Contents, streams: readonly Stream[]): Promise<TablesView> {
  const view: TablesView = {}
  const tables = streams.flatMap(tablesOf)
  for (const [key, version] of contents.objects) {
    const name = hint.exec(key)?.[1]
    const table = tables.find((each) => each.name === name?.replace(/_current$/, ''))
    if (name === undefined || !table) continue
    const columns = identifiedColumnsOf(table).filter(({ name: column }) =>
      [...table.key, '_op', '_hash'].includes(column),
    )
    const rows: string[] = []
    for (const path of dataFilesOf(name, `${version}`, contents)) {
      for await (const group of rowFiles.read(objectAt(path, contents), columns)) {
        for (const at of (group[0] ?? []).keys()) rows.push(JSON.stringify(group.map((cells) => cells[at])))
      }
    }
    // What an observer saw when a process died may be told twice, and stands twice in what happened.
    view[name] = (name === table.name ? [...new Set(rows)] : rows).sort()
  }
  return Object.fromEntries(Object.entries(view).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function dataFilesOf(name: string, version: string, contents: Contents): string[] {
  const text = objectAt(`/iceberg/${name}/metadata/v${version.trim()}.metadata.json`, contents).toString()
  const snapshot = currentSnapshot(TableMetadata.parse(JSON.parse(text)))
  if (!snapshot) return []
  const list = snapshot['manifest-list']
  return decodeManifestList(objectAt(list, contents), list).flatMap(
    ({ manifest_path: path, sequence_number: sequence }) =>
      decodeManifest(objectAt(path, contents), { path, sequence })
        .filter(({ status }) => status !== 'deleted')
        .map(({ file }) => file.path),
  )
}

function objectAt(address: string, { objects }: Contents): Buffer {
  const key = address.replace(/^.*\/(?=(iceberg|changes)\/)/, '')
  const body = objects.get(key)
  if (!body) throw new Error(`a table names ${key}, which is not there`)
  return body
}
