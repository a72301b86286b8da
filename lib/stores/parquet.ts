import { constants, zstdCompressSync } from 'node:zlib'
import type { ColumnSource, SchemaElement } from 'hyparquet-writer'
import type { IdentifiedColumn } from '../streams/field-ids.ts'
import type { Cell, Column, ColumnType, Table } from '../streams/table.ts'

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
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
}

type Encoding = Pick<ColumnSource, 'statistics' | 'encoding'>

const plain: Encoding = { statistics: false, encoding: 'PLAIN' }
/** Bounds of unsorted texts and measures let no reader skip a file; most measures and times repeat too seldom for a dictionary. */
const encodings: Partial<Record<ColumnType, Encoding>> = {
  string: { statistics: false },
  double: plain,
  timestamp: { encoding: 'PLAIN' },
}

/** What a column's bounds depend on. */
export type Named = Pick<Table, 'name' | 'key'>

/** Rows that a reader skips or takes together. */
export const groupRows = 25_000

/**
 * Columns by whose bounds readers skip, besides numbers and times: files are sorted by key, so that the bounds of a group
 * say where a key can't be.
 */
function isBounded(name: string, { key }: Named): boolean {
  return key.includes(name) || name === '_op' || name === '_run_id' || name === '_scan_id'
}

/** Level 3 is zstd's own default: near gzip's size at a fraction of its time. */
const params = { [constants.ZSTD_c_compressionLevel]: 3 }
function ZSTD(bytes: Uint8Array): Uint8Array {
  return zstdCompressSync(bytes, { params })
}

/** What the writer is told. One page per column: a group is small, and measuring each value to split it costs more than it gives. */
export const writerSettings = { codec: 'ZSTD', compressors: { ZSTD }, createdBy: 'agent-platform-sync' } as const
export const pageSize = 0

/** The Parquet schema of a table: its declared columns, all optional, whatever the values are. */
export function parquetSchema(columns: readonly IdentifiedColumn[]): SchemaElement[] {
  const root: SchemaElement = { name: 'root', num_children: columns.length }
  return [root, ...columns.map(leaf)]
}

function leaf({ name, type, id }: IdentifiedColumn): SchemaElement {
  return { name, repetition_type: 'OPTIONAL', field_id: id, ...physical[type] }
}

/**
 * What the columns mean, as a text beside the rows: an object of name and meaning. Readers show it
 * (`parquet_kv_metadata` in DuckDB, `schema.metadata` in pyarrow).
 */
export function describedBy(columns: readonly IdentifiedColumn[]): { key: string; value: string }[] {
  return [
    {
      key: 'column_descriptions',
      value: JSON.stringify(Object.fromEntries(columns.map(({ name, doc }) => [name, doc]))),
    },
  ]
}

/** A column as the writer takes it. */
export function columnSource(table: Named, { name, type }: Column, cells: readonly Cell[]): ColumnSource {
  const column = `${table.name}.${name}`
  const bounds = isBounded(name, table) ? { statistics: true } : {}
  // Values that hardly repeat: no dictionary, and bytes spare the writer its slower way from text to bytes.
  const isUnique = type === 'json' || name === '_hash' || name === table.key.at(-1)
  const convert = isUnique && (type === 'json' || type === 'string') ? bytesOf : converters[type]
  return { name, data: inSlices(cells, { convert, type, column }), ...(isUnique ? plain : encodings[type]), ...bounds }
}

/** The cell as the writer takes it; undefined for one that is not of the column's type. */
type Convert = (cell: Exclude<Cell, null>) => Cell | bigint | Uint8Array | undefined
type Conversion = { convert: Convert; type: ColumnType; column: string }

const asText: Convert = (cell) => (typeof cell === 'string' ? cell : undefined)
const bytesOf: Convert = (cell) => (typeof cell === 'string' ? Buffer.from(cell) : undefined)
/** Whole numbers and times, in µs, as bigint. */
const converters: Record<ColumnType, Convert> = {
  string: asText,
  json: asText,
  int64: (cell) => (Number.isSafeInteger(cell) ? BigInt(cell) : undefined),
  timestamp: (cell) => (Number.isSafeInteger(cell) ? BigInt(cell) * 1000n : undefined),
  double: (cell) => (typeof cell === 'number' ? cell : undefined),
  boolean: (cell) => (typeof cell === 'boolean' ? cell : undefined),
}

/** Cells as the writer takes them, made when it asks for a group of them: all at once would be as large as the rows again. */
function inSlices(cells: readonly Cell[], { convert, type, column }: Conversion): ColumnSource['data'] {
  const slice = (from: number, to: number) => {
    const some = new Array<unknown>(Math.min(to, cells.length) - from)
    for (let i = 0; i < some.length; i++) {
      const cell = cells[from + i] as Cell
      const value = cell === null ? null : convert(cell)
      if (value === undefined) throw wrongType(cell, type, column)
      some[i] = value
    }
    return some
  }
  return { length: cells.length, slice } as unknown as ColumnSource['data']
}

function wrongType(cell: Cell, type: ColumnType, column: string) {
  return new TypeError(`column ${column} is declared as ${type} and can't hold a ${typeof cell}`)
}
