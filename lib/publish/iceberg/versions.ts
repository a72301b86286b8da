import type { IdentifiedColumn } from '../../streams/field-ids.ts'
import type { Cell } from '../../streams/table.ts'
import type { RowGroup } from './ports.ts'

/** The columns that tell which version of a record a row belongs to. */
export const versionColumns = ['_op', '_scan_id', '_sequence', '_synced_at'] as const

/** A version of a record. `live`: the record is there in it. */
export type Version = { live: boolean; scanId: Cell; sequence: number; syncedAt: number }

/** Reads the version that a row of a group belongs to. */
export type VersionReader = (group: RowGroup, row: number) => Version

/** The version reader of groups whose columns are `columns`. */
export function versionReader(columns: readonly Pick<IdentifiedColumn, 'name'>[]): VersionReader {
  const [op, scan, sequence, time] = versionColumns.map((name) =>
    columns.findIndex((column) => column.name === name),
  ) as [number, number, number, number]
  return (group, row) => ({
    live: group[op]?.[row] === 'upsert',
    scanId: group[scan]?.[row] ?? null,
    sequence: Number(group[sequence]?.[row]),
    syncedAt: Number(group[time]?.[row]),
  })
}

/** Whether a version came after another, as the views of the warehouse order them: by `_synced_at`, then by `_sequence`. */
export function isNewer(a: Version, b: Version): boolean {
  return a.syncedAt === b.syncedAt ? a.sequence > b.sequence : a.syncedAt > b.syncedAt
}

/** Whether a row of a version is there to be seen, `newest` being the newest one of its record. */
export function stands(version: Version, newest: Version): boolean {
  return newest.live && version.live && newest.scanId === version.scanId && newest.sequence === version.sequence
}
