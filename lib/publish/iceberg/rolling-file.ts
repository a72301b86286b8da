import { identifiedColumnsOf } from '../../streams/field-ids.ts'
import type { Cell, Table } from '../../streams/table.ts'
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
  // Where the rows of the group stand; their cells are taken column by column, which is quicker than row by row.
  let froms: RowGroup[] = []
  let rowsIn: number[] = []

  const flush = () => {
    const rows = rowsIn.length
    if (rows === 0) return
    const group = columns.map((_, at) => gathered(at, { froms, rowsIn }))
    open ??= { writer: deps.rows.open(table), rows: 0, gathering: gatherStatistics(bounded) }
    open.writer.add(group)
    open.gathering.add(boundedAt.map((at) => group[at] ?? []))
    open.rows += rows
    froms = []
    rowsIn = []
  }
  /** Ends the file at this place: what follows is in another. */
  const cut = async () => {
    flush()
    if (!open) return
    const { writer, rows, gathering } = open
    open = null
    const bytes = writer.finish()
    const key = attempt.dataKey(written.length)
    await deps.files.put(key, bytes, { signal, contentType: 'application/vnd.apache.parquet' })
    const path = addressesOf(deps.address).addressOf(key)
    const statistics = gathering.statistics()
    written.push({ path, rows, bytes: bytes.byteLength, day: null, statistics, sortOrderId: keyOrderId })
  }
  const take = (from: RowGroup, row: number): Promise<void> | undefined => {
    froms.push(from)
    if (rowsIn.push(row) < deps.fileSize.groupRows) return undefined
    flush()
    return open && open.writer.size() >= deps.fileSize.bytes ? cut() : undefined
  }
  return { take, cut, written: () => written }
}

/** The cells of a column in rows of several groups: `froms` has the group of each row, `rowsIn` its number there. */
function gathered(at: number, { froms, rowsIn }: { froms: readonly RowGroup[]; rowsIn: readonly number[] }): Cell[] {
  const cells = new Array<Cell>(rowsIn.length)
  for (let i = 0; i < cells.length; i++) cells[i] = froms[i]?.[at]?.[rowsIn[i] as number] ?? null
  return cells
}
