import { constants, zstdCompressSync } from 'node:zlib'
import { parquetWriteBuffer, type SchemaElement } from 'hyparquet-writer'
import { type Cell, type ColumnType, columnsOf, type Table } from '../streams/table.ts'
import type { RowBatch } from '../sync/ports.ts'

/** Level 3 is zstd's own default: near gzip's size at a fraction of its time. */
const zstd = (bytes: Uint8Array): Uint8Array =>
  zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 3 } })

const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const

const physical: Record<ColumnType, Partial<SchemaElement>> = {
  string: text,
  // JSON is text to every reader; an annotation would make some of them parse it.
  json: text,
  int64: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  timestamp: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
}

/** The Parquet schema of a table: its declared columns, all optional, whatever the values are. */
export const parquetSchema = (table: Table): SchemaElement[] => {
  const columns = columnsOf(table)
  const root: SchemaElement = { name: 'root', num_children: columns.length }
  return [root, ...columns.map(({ name, type }) => ({ name, repetition_type: 'OPTIONAL' as const, ...physical[type] }))]
}

/**
 * A batch of rows as one Parquet file.
 * @throws TypeError when a cell is not of its column's declared type.
 */
export const encodeParquet = ({ table, columns, rows }: RowBatch): Uint8Array => {
  const declared = columnsOf(table)
  if (columns.length !== declared.length || columns.some((cells) => cells.length !== rows)) {
    throw new TypeError(
      `a batch of ${table.name} has ${columns.length} columns; ${declared.length} of ${rows} rows are declared`,
    )
  }
  const buffer = parquetWriteBuffer({
    schema: parquetSchema(table),
    columnData: declared.map(({ name, type }, i) => ({
      name,
      data: columns[i]!.map((cell) => (cell === null ? null : stored(cell, type, `${table.name}.${name}`))),
    })),
    codec: 'ZSTD',
    compressors: { ZSTD: zstd },
    rowGroupSize: 100_000,
    createdBy: 'agent-platform-sync',
  })
  return new Uint8Array(buffer)
}

const stored = (cell: Exclude<Cell, null>, type: ColumnType, column: string): string | number | boolean | bigint => {
  if (type === 'int64' || type === 'timestamp') {
    if (Number.isSafeInteger(cell)) return BigInt(cell)
  } else if (typeof cell === (type === 'json' ? 'string' : type === 'double' ? 'number' : type)) return cell
  throw new TypeError(`column ${column} is declared as ${type} and can't hold a ${typeof cell}`)
}
