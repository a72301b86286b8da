import { zstdDecompressSync } from 'node:zlib'
import { type FileMetaData, parquetMetadata, parquetRead } from 'hyparquet'
import { ByteWriter, type ColumnSource, ParquetWriter } from 'hyparquet-writer'
import type { RowFiles, RowGroup } from '../publish/iceberg/ports.ts'
import { identifiedColumnsOf } from '../streams/field-ids.ts'
import type { Cell, Column } from '../streams/table.ts'
import { columnSource, describedBy, parquetSchema, publishedForm, writerSettings } from './parquet.ts'

/** Times as Unix ms, in the unit of any file that was ever written. */
const parsers = {
  timestampFromMilliseconds: Number,
  timestampFromMicroseconds: (micros: bigint) => Number(micros / 1000n),
}
const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) }

/** Parquet files as rows, group by group: what is unpacked at a time is bounded, however large a file is. */
export const rowFiles: RowFiles = {
  read: async function* (bytes, columns) {
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
    const metadata = parquetMetadata(file)
    let start = 0
    for (const { num_rows } of metadata.row_groups) {
      const rows = Number(num_rows)
      yield await readGroup({ file, metadata, rowStart: start, rowEnd: start + rows }, columns)
      start += rows
    }
  },
  open: (table) => {
    const columns = identifiedColumnsOf(table)
    const writer = new ByteWriter()
    const kvMetadata = describedBy(columns)
    const parquet = new ParquetWriter({ writer, schema: parquetSchema(columns), kvMetadata, ...writerSettings })
    return {
      add: (group) => {
        const columnData = columns.map(
          (column, at): ColumnSource => columnSource(table, column, { cells: group[at] ?? [], form: publishedForm }),
        )
        const rowGroupSize = group[0]?.length ?? 0
        parquet.write({ columnData, rowGroupSize, pageSize: 0 })
      },
      size: () => writer.offset,
      finish: () => {
        parquet.finish()
        return writer.getBytes()
      },
    }
  },
}

type Range = { file: ArrayBuffer; metadata: FileMetaData; rowStart: number; rowEnd: number }

async function readGroup(range: Range, columns: readonly Column[]): Promise<RowGroup> {
  const { metadata, rowStart, rowEnd } = range
  const present = new Set(metadata.schema.map(({ name }) => name))
  const found = columns.map(({ name }) => (present.has(name) ? name : null))
  const names = found.filter((name) => name !== null)
  const cells = new Map<string, unknown[]>(names.map((name) => [name, []]))
  const onChunk = ({
    columnName,
    columnData,
    ...at
  }: {
    columnName: string
    columnData: ArrayLike<unknown>
    rowStart: number
  }) => {
    const column = cells.get(columnName)
    for (let row = 0; row < columnData.length; row++) if (column) column[at.rowStart - rowStart + row] = columnData[row]
  }
  if (names.length > 0) await parquetRead({ ...range, columns: names, compressors, parsers, onChunk })
  const rows = rowEnd - rowStart
  return columns.map(({ name, type }) => cellsOf(cells.get(name), type, rows))
}

function cellsOf(values: readonly unknown[] | undefined, type: Column['type'], rows: number): Cell[] {
  if (!values) return new Array<Cell>(rows).fill(null)
  if (type !== 'int64') return Array.from(values, (value) => (value ?? null) as Cell)
  return Array.from(values, (value) => (typeof value === 'bigint' ? Number(value) : ((value ?? null) as Cell)))
}
