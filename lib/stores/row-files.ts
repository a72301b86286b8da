import { type FileMetaData, parquetMetadata, parquetRead } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { RowFiles, RowFileWriter, RowGroup } from '../publish/iceberg/ports.ts'
import { type IdentifiedColumn, identifiedColumnsOf } from '../streams/field-ids.ts'
import type { Cell, Column } from '../streams/table.ts'
import { columnSource, describedBy, type Named, pageSize, parquetSchema, writerSettings } from './parquet.ts'
import { bufferOf, compressors, parsers, placeCells } from './parquet-rows.ts'

/** Parquet files as rows, group by group: what is unpacked at a time is bounded, however large a file is. */
export const rowFiles: RowFiles = {
  read: async function* (bytes, columns) {
    const file = bufferOf(bytes)
    const metadata = parquetMetadata(file)
    let start = 0
    for (const { num_rows } of metadata.row_groups) {
      const rows = Number(num_rows)
      yield await readGroup({ file, metadata, rowStart: start, rowEnd: start + rows }, columns)
      start += rows
    }
  },
  open: (table) => openFile(table, identifiedColumnsOf(table)),
}

/** Begins a file of some columns. */
export function openFile(table: Named, columns: readonly IdentifiedColumn[]): RowFileWriter {
  const writer = new ByteWriter()
  const kvMetadata = describedBy(columns)
  const parquet = new ParquetWriter({ writer, schema: parquetSchema(columns), kvMetadata, ...writerSettings })
  const chunks: Uint8Array[] = []
  // The library's buffer doubles when it is full. Emptied after each group, it stays as small as one.
  const empty = () => {
    chunks.push(writer.getBytes().slice())
    writer.index = 0
  }
  return {
    add: (group) => {
      const columnData = columns.map((column, at) => columnSource(table, column, group[at] ?? []))
      const rowGroupSize = group[0]?.length ?? 0
      parquet.write({ columnData, rowGroupSize, pageSize })
      empty()
    },
    size: () => writer.offset,
    finish: () => {
      parquet.finish()
      empty()
      const whole = new Uint8Array(writer.offset)
      let at = 0
      for (const chunk of chunks) {
        whole.set(chunk, at)
        at += chunk.byteLength
      }
      return whole
    },
  }
}

/** A file of one group of rows. @throws TypeError when a cell is not of its column's declared type. */
export function encodeParquet(table: Named, columns: readonly IdentifiedColumn[], group: RowGroup): Uint8Array {
  const file = openFile(table, columns)
  file.add(group)
  return file.finish()
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
