import { identifiedColumnsOf } from '../../streams/field-ids.ts'
import type { Table } from '../../streams/table.ts'
import { createRowGatherer } from './gather-rows.ts'
import type { DataFile } from './manifests.ts'
import { type Attempt, addressesOf } from './places.ts'
import type { IcebergDeps, RowFileWriter, RowGroup } from './ports.ts'
import { keyOrderId } from './schema.ts'
import { boundedColumns, gatherStatistics } from './statistics.ts'

type Open = { writer: RowFileWriter; rows: number; gathering: ReturnType<typeof gatherStatistics> }

/** Writes rows, which come in the order of the key, into files of about one size. One group of rows and one packed file are in memory. */
export function createRollingFile(
  table: Table,
  { attempt, signal, deps }: { attempt: Attempt; signal: AbortSignal; deps: IcebergDeps },
) {
  const columns = identifiedColumnsOf(table)
  const bounded = boundedColumns(table, columns)
  const boundedAt = bounded.map((column) => columns.indexOf(column))
  const written: DataFile[] = []
  let open: Open | null = null
  const rows = createRowGatherer(columns.length, {
    groupRows: deps.fileSize.groupRows,
    onGroup: (group) => {
      open ??= { writer: deps.rows.open(table), rows: 0, gathering: gatherStatistics(bounded) }
      open.writer.add(group)
      open.gathering.add(boundedAt.map((at) => group[at] ?? []))
      open.rows += group[0]?.length ?? 0
    },
  })
  /** Ends the file at this place: what follows is in another. */
  const cut = async () => {
    rows.flush()
    if (!open) return
    const { writer, gathering, ...counted } = open
    open = null
    const bytes = writer.finish()
    const key = attempt.dataKey(written.length)
    await deps.files.put(key, bytes, { signal, contentType: 'application/vnd.apache.parquet' })
    const path = addressesOf(deps.address).addressOf(key)
    const statistics = gathering.statistics()
    written.push({ path, ...counted, bytes: bytes.byteLength, day: null, statistics, sortOrderId: keyOrderId })
  }
  const take = (from: RowGroup, row: number): Promise<void> | undefined =>
    rows.take(from, row) && open && open.writer.size() >= deps.fileSize.bytes ? cut() : undefined
  return { take, cut, written: () => written }
}
