import { identifiedColumnsOf } from '../../streams/field-ids.ts'
import type { Table } from '../../streams/table.ts'
import type { DataFile } from './manifests.ts'
import { type Attempt, addressesOf } from './places.ts'
import type { IcebergDeps, RowFileWriter } from './ports.ts'
import { createRollingFile, type RollingFile } from './rolling-file.ts'
import { keyOrderId } from './schema.ts'
import { boundedColumns, gatherStatistics } from './statistics.ts'

type Writing = { attempt: Attempt; signal: AbortSignal; deps: IcebergDeps }
type Counting = RowFileWriter & { statistics: ReturnType<typeof gatherStatistics>['statistics'] }

/** Writes rows of a current table, which come in the order of its key, with what manifests say of their files. */
export function createCurrentWriter(table: Table, { attempt, signal, deps }: Writing): RollingFile<DataFile> {
  const columns = identifiedColumnsOf(table)
  const bounded = boundedColumns(table, columns)
  const boundedAt = bounded.map((column) => columns.indexOf(column))
  const open = (): Counting => {
    const writer = deps.rows.open(table)
    const gathering = gatherStatistics(bounded)
    return {
      ...writer,
      add: (group) => {
        writer.add(group)
        gathering.add(boundedAt.map((at) => group[at] ?? []))
      },
      statistics: gathering.statistics,
    }
  }
  return createRollingFile({
    columns: columns.length,
    groupRows: deps.fileSize.groupRows,
    open,
    keep: async ({ writer, rows }, number) => {
      const bytes = writer.finish()
      const key = attempt.dataKey(number)
      await deps.files.put(key, bytes, { signal, contentType: 'application/vnd.apache.parquet' })
      const path = addressesOf(deps.address).addressOf(key)
      const statistics = writer.statistics()
      return { path, rows, bytes: bytes.byteLength, day: null, statistics, sortOrderId: keyOrderId }
    },
  })
}
