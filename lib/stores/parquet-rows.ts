import { zstdDecompressSync } from 'node:zlib'
import { parquetMetadata, parquetRead } from 'hyparquet'
import { type Cell, columnsOf, type Table } from '../streams/table.ts'

/** Times as Unix ms, in the unit of any file that was ever written. */
export const parsers = {
  timestampFromMilliseconds: Number,
  timestampFromMicroseconds: (micros: bigint) => Number(micros / 1000n),
}
/** How pages are unpacked. */
export const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) }

/** Adds the rows of a file to columns. One that the file lacks, since it was declared later, is null. */
export async function appendRows(columns: Cell[][], table: Table, bytes: Uint8Array): Promise<void> {
  const file = bufferOf(bytes)
  const metadata = parquetMetadata(file)
  const present = new Set(metadata.schema.map(({ name }) => name))
  const cells = new Map(columnsOf(table).map(({ name }, at) => [name, columns[at] as Cell[]]))
  const rows = Number(metadata.num_rows)
  const start = columns[0]?.length ?? 0
  for (const column of columns) for (let row = 0; row < rows; row++) column.push(null)
  const names = [...cells.keys()].filter((name) => present.has(name))
  const onChunk = (chunk: { columnName: string; columnData: ArrayLike<unknown>; rowStart: number }) =>
    placeCells(cells.get(chunk.columnName), chunk.columnData, start + chunk.rowStart)
  await parquetRead({ file, metadata, columns: names, compressors, parsers, onChunk })
}

/** Puts the values of a page where they belong, as cells. */
export function placeCells(cells: Cell[] | undefined, values: ArrayLike<unknown>, start: number): void {
  if (!cells) return
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as Cell | bigint | undefined
    cells[start + i] = typeof value === 'bigint' ? Number(value) : (value ?? null)
  }
}

/** A file's bytes, as the reader of Parquet takes them: a copy only of those that lie among others. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): ArrayBuffer {
  if (byteLength === buffer.byteLength) return buffer as ArrayBuffer
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
}
