import type { Json } from '../core/json.ts'
import type { ExtractedRow } from '../streams/extract.ts'
import { keyParts } from '../streams/keys.ts'
import type { Stream } from '../streams/stream.ts'
import { type Cell, columnsOf, keyCell, type Table } from '../streams/table.ts'
import type { Batch } from './batch.ts'
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
  // The rows are about as large as the records' text, and writing those to the table takes longest.
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
  for (const [at, table] of stream.tables.entries()) {
    const columns: Cell[][] = columnsOf(table).map(() => [])
    for (const { hash, rows } of batch.changes.values()) {
      for (const row of rows[at] ?? []) append(columns, row.cells, metaCells('upsert', path, { hash, ...row }))
    }
    if (at === 0) {
      for (const key of batch.deletes) append(columns, deletedRow(table, key), metaCells('delete', path))
    }
    const rows = columns[0]?.length ?? 0
    if (rows > 0) yield { table, columns, rows }
  }
}

/** Rows that an observer hands over: they stem from no record of the stream. */
export function observedRows(table: Table, records: readonly unknown[], path: PartPath): RowBatch {
  const columns: Cell[][] = columnsOf(table).map(() => [])
  const meta = metaCells('upsert', path)
  for (const record of records) {
    for (const { cells } of table.read(record as Json).rows) append(columns, cells, meta)
  }
  return { table, columns, rows: columns[0]?.length ?? 0 }
}

type OfRow = { hash: string | null } & Pick<ExtractedRow, 'extra' | 'invalid'>
const ofNoRecord: OfRow = { hash: null, extra: null, invalid: null }

/** The cells of the columns that every table carries (`metaColumns`). */
function metaCells(op: 'upsert' | 'delete', path: PartPath, { hash, extra, invalid } = ofNoRecord): Cell[] {
  const { runId, scanId, part, startedAt } = path
  return [op, runId, scanId, part, startedAt, hash, extra, invalid]
}

/** Adds a row, column by column: its own cells, then those of `meta`. */
function append(columns: Cell[][], cells: readonly Cell[], meta: readonly Cell[]): void {
  const own = cells.length
  for (let i = 0; i < own; i++) (columns[i] as Cell[]).push(cells[i] as Cell)
  for (let i = 0; i < meta.length; i++) (columns[own + i] as Cell[]).push(meta[i] as Cell)
}

/** A delete keeps the key and nothing else. */
function deletedRow(table: Table, key: string): Cell[] {
  const values = keyParts(key, table.key.length)
  return table.columns.map((column) => {
    const at = table.key.indexOf(column.name)
    return at < 0 ? null : keyCell(values[at] as string, column)
  })
}
