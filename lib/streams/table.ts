import type { Json } from '../core/json.ts'
import { once } from '../core/once.ts'

/** Types of warehouse columns. `timestamp` is UTC with millisecond precision; `json` is JSON text. */
export type ColumnType = 'string' | 'int64' | 'double' | 'boolean' | 'timestamp' | 'json'

/** What a cell holds before it is written: a timestamp as Unix ms, json as its text, int64 as an integer. */
export type Cell = string | number | boolean | null

/** A column of a warehouse table: declared, never inferred from values. */
export type Column = {
  /** snake_case, unique without regard to case (Athena folds it). */
  readonly name: string
  readonly type: ColumnType
  /** The meaning, with its unit. */
  readonly doc: string
}

/** A value whose form its declaration did not foresee: it stands in no column, and is told beside them. */
export type Misfit = {
  /** Where it stands: `sessionSettings.model`, and in a list or map of a nested table `provisioningSteps[2].name`. */
  readonly field: string
  /** The same without the place in a list or map, `provisioningSteps[].name`: there are few of these, so they can be counted. */
  readonly counted: string
  /** What is wrong with it, without the value. */
  readonly reason: string
  readonly value: Json
}

/** A row as it was read: its cells in the order of the table's columns, and what stands in none of them. */
export type TableRow = {
  readonly cells: Cell[]
  /** Fields that the schema does not know, at their place; null when there are none. */
  readonly extra: { [key: string]: Json } | null
  /** Named from the row's own object, which of a nested table is the element. */
  readonly misfits: readonly Misfit[]
}

/** What a table takes from a record. */
export type TableReading = {
  readonly rows: readonly TableRow[]
  /** All that the table could not take of the record, named from the record. */
  readonly misfits: readonly Misfit[]
  /** Whether a value differs from what is known of it, and costs no column of this table. */
  readonly drifted: boolean
}

/** A warehouse table: the change log of a stream's records, or of a nested list that people query. */
export type Table = {
  readonly name: string
  readonly doc: string
  /** The columns that identify a row; a nested table's begin with its parent's. */
  readonly key: readonly string[]
  readonly columns: readonly Column[]
  /**
   * Reads the rows that a record yields, whatever its form; a main table yields exactly one. `key` is the record's
   * primary key, where it has one. Nested deeper than a call stack is the one thing a record may not be.
   */
  readonly read: (record: Json, key?: string) => TableReading
}

/** A table that is worked out when it is first looked into: a start of a function declares all tables, and needs a few. */
export function tableOnDemand(
  { name, doc, key }: Pick<Table, 'name' | 'doc' | 'key'>,
  workOut: () => Pick<Table, 'columns' | 'read'>,
): Table {
  const made = once(workOut)
  return {
    ...{ name, doc, key },
    get columns() {
      return made().columns
    },
    read: (record, primaryKey) => made().read(record, primaryKey),
  }
}

/** The columns that every table carries after its own: what happened to the row, when, and in which scan. */
export const metaColumns: readonly Column[] = [
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
  {
    name: '_extra',
    type: 'json',
    doc: 'Fields the schema does not know, as they came; in a nested table those of its element. Null when there are none.',
  },
  {
    name: '_invalid',
    type: 'json',
    doc: 'Values that their column could not take: a list of `field`, `reason` and `value`. Null when there are none.',
  },
]

/** All columns of a table in the order they are written. */
export function columnsOf(table: Table): readonly Column[] {
  return [...table.columns, ...metaColumns]
}

/** The primary key of a record as its column holds it. */
export function keyCell(key: string, { type }: Pick<Column, 'type'>): Cell {
  return type === 'int64' ? Number(key) : key
}

/** What a cell takes, about: of a text as many bytes as it has characters. */
export function cellBytes(cell: Cell): number {
  return typeof cell === 'string' ? cell.length : 8
}
