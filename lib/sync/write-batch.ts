import type { Stream } from '../streams/stream.ts'
import { type Cell, columnsOf, type Table } from '../streams/table.ts'
import type { Batch, RecordChange } from './batch.ts'
import type { PartFile } from './checkpoint.ts'
import type { ScanContext } from './context.ts'
import { encodeIndex } from './index-format.ts'
import { rulesOf } from './modes.ts'
import type { PartPath, RowBatch } from './ports.ts'

type Writing = { batch: Batch; header: { pass: number; tokens: string[] }; path: PartPath; mayExist: boolean }

/** Writes all that a batch brings; safe to repeat. Answers the lake files. */
export async function writeBatch(
  context: ScanContext,
  { batch, header, path, mayExist }: Writing,
): Promise<PartFile[]> {
  const { deps, lease, scan, observer } = context
  const records = [...batch.changes.values()].map(({ key, hash, body }) => ({ key, hash, body }))
  const files = await writeLake(context, batch, path)
  // The records as objects are several times their text, and writing them to the table takes longest.
  batch.changes.clear()
  const { seen } = batch
  await deps.index.writePart(
    path,
    encodeIndex({ ...header, files }, { count: seen.length, each: () => seen }),
    lease.signal,
  )
  // Last, since the part tells the next attempt which records this one may have written, should it die here.
  await rulesOf(context.stream).writeCurrent({ records, deletes: batch.deletes, mayExist }, context)
  const ids = { runId: scan.runId, scanId: scan.scanId }
  if (batch.observed.length > 0) await observer?.flushed(batch.observed, ids, lease.signal)
  return files
}

async function writeLake(context: ScanContext, batch: Batch, path: PartPath): Promise<PartFile[]> {
  const { deps, stream, lease } = context
  const files: PartFile[] = []
  for (const rows of batchRows(stream, batch, path)) files.push(await deps.lake.writeRows(path, rows, lease.signal))
  if (batch.quarantined.length > 0) {
    files.push(await deps.lake.writeQuarantine(path, batch.quarantined, lease.signal))
    deps.log.warn('Records were quarantined.', { stream: stream.name, records: batch.quarantined.length })
  }
  return files
}

/** The rows of a batch, table by table; a table without rows is left out. */
function* batchRows(stream: Stream, batch: Batch, path: PartPath): Iterable<RowBatch> {
  for (const table of stream.tables as readonly Table[]) {
    const columns: Cell[][] = columnsOf(table).map(() => [])
    for (const change of batch.changes.values()) {
      const meta = metaCells('upsert', path, change)
      for (const cells of table.rows(change.record as never)) append(columns, [...cells, ...meta])
    }
    if (table === (stream.tables[0] as unknown)) {
      for (const key of batch.deletes) append(columns, [...deletedRow(table, key), ...metaCells('delete', path, null)])
    }
    const rows = columns[0]?.length ?? 0
    if (rows > 0) yield { table, columns, rows }
  }
}

/** Rows that an observer hands over: they stem from no record of the stream. */
export function observedRows(table: Table, records: readonly unknown[], path: PartPath): RowBatch {
  const columns: Cell[][] = columnsOf(table).map(() => [])
  const meta = metaCells('upsert', path, null)
  for (const record of records) {
    for (const cells of table.rows(record as never)) append(columns, [...cells, ...meta])
  }
  return { table, columns, rows: columns[0]?.length ?? 0 }
}

/** The cells of the columns that every table carries (`metaColumns`). */
function metaCells(op: 'upsert' | 'delete', path: PartPath, change: RecordChange | null): Cell[] {
  const { runId, scanId, part, startedAt } = path
  return [op, runId, scanId, part, startedAt, change?.hash ?? null, change?.extra ? JSON.stringify(change.extra) : null]
}

function append(columns: Cell[][], cells: Cell[]): void {
  for (let i = 0; i < columns.length; i++) (columns[i] as Cell[]).push(cells[i] as Cell)
}

/** A delete keeps the key and nothing else. */
function deletedRow(table: Table, key: string): Cell[] {
  return table.columns.map(({ name, type }) =>
    table.key.includes(name) ? (type === 'int64' ? Number(key) : key) : null,
  )
}
