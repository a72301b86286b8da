import { zstdDecompressSync } from 'node:zlib'
import { type FileMetaData, parquetMetadata, parquetRead } from 'hyparquet'
import { type Cell, type Column, columnsOf, type Table } from '../streams/table.ts'
import type { RowBatch } from '../sync/ports.ts'

/** Times as Unix ms, in the unit of any file that was ever written. */
const parsers = {
  timestampFromMilliseconds: Number,
  timestampFromMicroseconds: (micros: bigint) => Number(micros / 1000n),
}
const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) }

/** What a file's rows take when they are unpacked, from its footer. */
export function unpackedBytes(bytes: Uint8Array): number {
  const { row_groups } = parquetMetadata(bufferOf(bytes))
  return row_groups.reduce((sum, group) => sum + Number(group.total_byte_size), 0)
}

/** Adds the rows of a file to columns. One that the file lacks, since it was declared later, is null. */
export async function appendRows(columns: Cell[][], table: Table, bytes: Uint8Array): Promise<void> {
  const file = bufferOf(bytes)
  const metadata = parquetMetadata(file)
  const declared = columnsOf(table)
  const present = new Set(metadata.schema.map(({ name }) => name))
  const rows = Number(metadata.num_rows)
  for (const [at, column] of declared.entries()) {
    const cells = columns[at] as Cell[]
    const wanted = cells.length + rows
    if (present.has(column.name)) await appendColumn(cells, column, { file, metadata })
    while (cells.length < wanted) cells.push(null)
  }
}

type Source = { file: ArrayBuffer; metadata: FileMetaData }

async function appendColumn(cells: Cell[], { name, type }: Column, source: Source): Promise<void> {
  const chunks: { rowStart: number; columnData: ArrayLike<unknown> }[] = []
  const onChunk = (chunk: (typeof chunks)[number]) => void chunks.push(chunk)
  await parquetRead({ ...source, columns: [name], compressors, parsers, onChunk })
  chunks.sort((a, b) => a.rowStart - b.rowStart)
  for (const { columnData } of chunks) {
    for (let i = 0; i < columnData.length; i++) {
      const value = columnData[i] as Cell | bigint | undefined
      cells.push(type === 'int64' && typeof value === 'bigint' ? Number(value) : ((value ?? null) as Cell))
    }
  }
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): ArrayBuffer {
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
}

/** The numbers of the rows in the order of the table's key, and of two versions of a record the older one first. */
export function keyOrder({ table, columns, rows }: RowBatch): Uint32Array {
  const names = columnsOf(table).map(({ name }) => name)
  const by = [...table.key, '_synced_at', '_sequence'].map((name) => columns[names.indexOf(name)] as Cell[])
  const order = new Uint32Array(rows)
  for (let row = 0; row < rows; row++) order[row] = row
  return order.sort((a, b) => {
    for (const cells of by) {
      const difference = compare(cells[a] as Cell, cells[b] as Cell)
      if (difference !== 0) return difference
    }
    return a - b
  })
}

/** Nulls last, as engines have them. */
function compare(a: Cell, b: Cell): number {
  if (a === b) return 0
  if (a === null) return 1
  if (b === null) return -1
  return a < b ? -1 : 1
}
