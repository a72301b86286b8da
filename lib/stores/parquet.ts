import { constants, zstdCompressSync } from 'node:zlib'
import { type ColumnSource, parquetWriteBuffer, type SchemaElement } from 'hyparquet-writer'
import { type IdentifiedColumn, identifiedColumnsOf } from '../streams/field-ids.ts'
import type { Cell, Column, ColumnType, Table } from '../streams/table.ts'
import type { RowBatch } from '../sync/ports.ts'

/** Level 3 is zstd's own default: near gzip's size at a fraction of its time. */
function zstd(bytes: Uint8Array): Uint8Array {
  return zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 3 } })
}

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

/** How every file is packed. */
export const writerSettings = { codec: 'ZSTD', compressors: { ZSTD: zstd }, createdBy: 'agent-platform-sync' } as const

/** What the form of a file asks of its table. */
type Named = Pick<Table, 'name' | 'key'>

/** How a file is laid out. */
type Form = {
  /** Rows that a reader skips or takes together. */
  readonly groupRows: number
  /** Columns by whose bounds readers skip, besides numbers and times. */
  readonly bounded: (table: Named) => readonly string[]
}

/** A part of a scan, which is merged before anyone reads it. */
const partForm: Form = { groupRows: 100_000, bounded: () => [] }

/** A file that readers see: sorted by key, so that the bounds of its groups say where a key can't be. */
export const publishedForm: Form = { groupRows: 25_000, bounded: ({ key }) => [...key, '_op', '_run_id', '_scan_id'] }

/** The Parquet schema of a table: its declared columns, all optional, whatever the values are. */
export function parquetSchema(columns: readonly IdentifiedColumn[]): SchemaElement[] {
  const root: SchemaElement = { name: 'root', num_children: columns.length }
  return [root, ...columns.map(leaf)]
}

function leaf({ name, type, id }: IdentifiedColumn): SchemaElement {
  return { name, repetition_type: 'OPTIONAL', field_id: id, ...physical[type] }
}

/** How to write rows: by default as a part, in the order they have. */
type Writing = {
  form?: Form
  /** The numbers of the rows in the order they are written. */
  order?: Uint32Array
  declared?: readonly IdentifiedColumn[]
}

/**
 * A batch of rows as one Parquet file.
 * @throws TypeError when a cell is not of its column's declared type.
 */
export function encodeParquet(
  { table, columns, rows }: RowBatch,
  { form = partForm, order, declared = identifiedColumnsOf(table) }: Writing = {},
): Uint8Array {
  if (columns.length !== declared.length || columns.some((cells) => cells.length !== rows)) {
    throw new TypeError(
      `a batch of ${table.name} has ${columns.length} columns; ${declared.length} of ${rows} rows are declared`,
    )
  }
  const buffer = parquetWriteBuffer({
    schema: parquetSchema(declared),
    columnData: declared.map((column, i) => columnSource(table, column, { cells: columns[i] as Cell[], form, order })),
    ...writerSettings,
    rowGroupSize: form.groupRows,
    // One page per column: a group is small, and measuring each value to split it costs more than it gives.
    pageSize: 0,
  })
  return new Uint8Array(buffer)
}

type Source = { cells: readonly Cell[]; form: Form; order?: Uint32Array | undefined }

/** A column as the writer takes it. */
export function columnSource(table: Named, { name, type }: Column, { form, ...from }: Source): ColumnSource {
  const column = `${table.name}.${name}`
  const bounds = form.bounded(table).includes(name) ? { statistics: true } : {}
  if (type !== 'json' && name !== '_hash' && name !== table.key.at(-1)) {
    return { name, data: inSlices(from, (cell) => stored(cell, type, column)), ...encodings[type], ...bounds }
  }
  // Values that hardly repeat: no dictionary, and bytes spare the writer its slower way from text to bytes.
  const bytes = (value: ReturnType<typeof stored>) => (typeof value === 'string' ? Buffer.from(value) : value)
  return { name, data: inSlices(from, (cell) => bytes(stored(cell, type, column))), ...plain, ...bounds }
}

/** Cells as the writer takes them, made when it asks for a group of them: all at once would be as large as the rows again. */
function inSlices<T>({ cells, order }: Omit<Source, 'form'>, convert: (cell: Cell) => T): ColumnSource['data'] {
  const slice = (from: number, to: number) => {
    const some: T[] = []
    for (let i = from; i < Math.min(to, cells.length); i++)
      some.push(convert(cells[order ? (order[i] as number) : i] as Cell))
    return some
  }
  return { length: cells.length, slice } as unknown as ColumnSource['data']
}

/** The cell as the writer takes it: whole numbers and times, in µs, as bigint. */
function stored(cell: Cell, type: ColumnType, column: string): Cell | bigint {
  if (cell === null) return null
  if (type === 'int64' || type === 'timestamp') {
    if (Number.isSafeInteger(cell)) return type === 'int64' ? BigInt(cell) : BigInt(cell) * 1000n
  } else if (typeof cell === (type === 'double' ? 'number' : type === 'json' ? 'string' : type)) return cell
  throw new TypeError(`column ${column} is declared as ${type} and can't hold a ${typeof cell}`)
}
