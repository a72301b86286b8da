import { type FileMetaData, parquetMetadata, parquetRead } from 'hyparquet'
import type { RowFiles, RowGroup } from '../publish/iceberg/ports.ts'
import type { Cell, Column } from '../streams/table.ts'
import { bufferOf, compressors, parsers, placeCells } from './parquet-rows.ts'

/** The rows of a Parquet file, group by group: what is unpacked at a time is bounded, however large the file is. */
export const readRows: RowFiles['read'] = async function* (bytes, columns) {
  const file = bufferOf(bytes)
  const metadata = parquetMetadata(file)
  let start = 0
  for (const { num_rows } of metadata.row_groups) {
    const rows = Number(num_rows)
    yield await readGroup({ file, metadata, rowStart: start, rowEnd: start + rows }, columns)
    start += rows
  }
}

type Range = { file: ArrayBuffer; metadata: FileMetaData; rowStart: number; rowEnd: number }

async function readGroup(range: Range, columns: readonly Column[]): Promise<RowGroup> {
  const { metadata, rowStart, rowEnd } = range
  const present = new Set(metadata.schema.map(({ name }) => name))
  const cells = new Map(columns.map(({ name }) => [name, new Array<Cell>(rowEnd - rowStart).fill(null)]))
  const names = [...cells.keys()].filter((name) => present.has(name))
  const onChunk = (chunk: { columnName: string; columnData: ArrayLike<unknown>; rowStart: number }) =>
    placeCells(cells.get(chunk.columnName), chunk.columnData, chunk.rowStart - rowStart)
  if (names.length > 0) await parquetRead({ ...range, columns: names, compressors, parsers, onChunk })
  return columns.map(({ name }) => cells.get(name) as Cell[])
}
