import type { IdentifiedColumn } from '../../streams/field-ids.ts'
import type { Cell } from '../../streams/table.ts'
import type { RowGroup } from './ports.ts'

/** The columns that tell which version of a record a row belongs to. */
export const versionColumns = ['_op', '_scan_id', '_sequence', '_synced_at'] as const

/** The version of a record that stands after some scans. */
export type Version = { live: boolean; scanId: Cell; sequence: number; syncedAt: number }

/** What identifies a record: its key's cell, or the cells of a key of several columns as JSON. */
export type RecordKey = Cell

/** The newest version of each record that some scans wrote: what changed. */
export type Versions = ReadonlyMap<RecordKey, Version>

/** Tells rows apart by the record that they belong to, and its version. `keys` are the columns of the record's key. */
export type VersionReader = {
  keyAt(row: number): RecordKey
  versionAt(row: number): Version
}

/** Reads versions out of a group of rows whose columns are `columns`. */
export function versionReader(
  group: RowGroup,
  columns: readonly Pick<IdentifiedColumn, 'name'>[],
  keys: readonly string[],
): VersionReader {
  const cellsOf = (name: string) => group[columns.findIndex((column) => column.name === name)] ?? []
  const [ops, scans, sequences, times] = versionColumns.map(cellsOf) as [Cell[], Cell[], Cell[], Cell[]]
  const key = keys.map(cellsOf)
  const [first = []] = key
  return {
    keyAt: key.length === 1 ? (row) => first[row] ?? null : (row) => JSON.stringify(key.map((cells) => cells[row])),
    versionAt: (row) => ({
      live: ops[row] === 'upsert',
      scanId: scans[row] ?? null,
      sequence: Number(sequences[row]),
      syncedAt: Number(times[row]),
    }),
  }
}

/** Notes the versions of a group of `rows` rows. */
export function noteVersions(
  versions: Map<RecordKey, Version>,
  { keyAt, versionAt }: VersionReader,
  rows: number,
): void {
  for (let row = 0; row < rows; row++) {
    const key = keyAt(row)
    const version = versionAt(row)
    const known = versions.get(key)
    if (!known || isNewer(version, known)) versions.set(key, version)
  }
}

/** As the views of the warehouse order them: `_synced_at`, then `_sequence`. */
function isNewer(a: Version, b: Version): boolean {
  return a.syncedAt === b.syncedAt ? a.sequence > b.sequence : a.syncedAt > b.syncedAt
}

/** Whether a row belongs to the version that stands, and is there to be seen. */
export function stands(versions: Versions, key: RecordKey, version: Version): boolean {
  const newest = versions.get(key)
  if (!newest?.live || !version.live) return false
  return newest.scanId === version.scanId && newest.sequence === version.sequence
}
