/** Types of warehouse columns. `timestamp` is UTC with millisecond precision; `json` is JSON text. */
export type ColumnType = 'string' | 'int64' | 'double' | 'boolean' | 'timestamp' | 'json'

/** What a cell holds before it is written: a timestamp as Unix ms, json as its text, int64 as an integer. */
export type Cell = string | number | boolean | null

/** A column of a warehouse table: declared, never inferred from values. */
export type Column<R = never> = {
  /** snake_case, unique without regard to case (Athena folds it). */
  readonly name: string
  readonly type: ColumnType
  /** The meaning, with its unit. */
  readonly doc: string
  /** The cell of a row. */
  readonly value: (row: R) => Cell
}

/** A warehouse table: the change log of a stream's records, or of a nested list that people query. */
export type Table<R = never> = {
  readonly name: string
  readonly doc: string
  /** The columns that identify a row; a nested table's begin with its parent's. */
  readonly key: readonly string[]
  readonly columns: readonly Column<never>[]
  /** The cells of each row that a record yields, in the order of `columns`; a main table yields exactly one. */
  readonly rows: (record: R) => Iterable<Cell[]>
}

type TableOf<R, Row> = Omit<Table<R>, 'columns' | 'rows'> & {
  readonly columns: readonly Column<Row>[]
  readonly each: (record: R) => Iterable<Row>
}

/** Declares a table whose rows come from `each` of a record. */
export function defineTable<R, Row>({ each, columns, ...table }: TableOf<R, Row>): Table<R> {
  return {
    ...table,
    columns: columns as readonly Column<never>[],
    rows: function* (record) {
      for (const row of each(record)) yield columns.map((column) => column.value(row))
    },
  }
}

/** The columns that every table carries after its own: what happened to the row, when, and in which scan. */
export const metaColumns: readonly Omit<Column, 'value'>[] = [
  { name: '_op', type: 'string', doc: 'upsert (the row is as given) or delete (the record is gone).' },
  { name: '_run_id', type: 'string', doc: 'The run whose scan wrote the row; also its partition.' },
  { name: '_scan_id', type: 'string', doc: 'The scan that saw the record.' },
  { name: '_sequence', type: 'int64', doc: 'Order within the scan: of two rows with one key the higher one is newer.' },
  { name: '_synced_at', type: 'timestamp', doc: 'When the scan that saw the record began.' },
  {
    name: '_hash',
    type: 'string',
    doc: "SHA-256 over the record's canonical JSON, hex; null for a delete, and where a row stems from no record.",
  },
  { name: '_extra', type: 'json', doc: 'Fields the schema does not know, as they came; null when there are none.' },
]

/** All columns of a table in the order they are written. */
export function columnsOf(table: Table): readonly Omit<Column, 'value'>[] {
  return [...table.columns, ...metaColumns]
}
