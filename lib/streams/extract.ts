import type { Json } from '../core/json.ts'
import { requiredFieldsOf } from './schema-layers.ts'
import type { Stream } from './stream.ts'
import type { Cell, Misfit, TableRow } from './table.ts'

/** A row as it is written: its cells, and as JSON text what stands in none of them. */
export type ExtractedRow = { readonly cells: Cell[]; readonly extra: string | null; readonly invalid: string | null }

/** What a stream's tables take from a record, and what they can't. */
export type Extracted = {
  /** The rows of each table, in the order of the stream's tables. */
  readonly rows: readonly (readonly ExtractedRow[])[]
  /** The fields whose value has an unforeseen form, each once, without places in lists and maps. */
  readonly invalid: readonly string[]
  /** Whether there is a field, or a value of an enumeration, that the schema does not know. */
  readonly drifted: boolean
}

/** Reads a record whatever its form. It holds no state between records. */
export type Extractor = (record: Json, key?: string) => Extracted

/** The extractor of a stream: its tables were compiled when they were declared. */
export function extractorOf({ tables }: Pick<Stream, 'tables'>): Extractor {
  return (record, key) => {
    const readings = tables.map((table) => table.read(record, key))
    const misfits = onceEach(readings.flatMap((reading) => reading.misfits))
    const rows = readings.map((reading, i) => {
      return reading.rows.map((row) => written(row, i === 0 ? misfits : row.misfits))
    })
    const invalid = misfits.length === 0 ? nothing : [...new Set(misfits.map(({ counted }) => counted))]
    const drifted = readings.some((reading) => reading.drifted || reading.rows.some(({ extra }) => extra !== null))
    return { rows, invalid, drifted }
  }
}

const nothing: readonly string[] = []

/** The fields of a stream that must hold a value, as `Extracted` names them. */
export function requiredFields({ schema }: Pick<Stream, 'schema'>): ReadonlySet<string> {
  return new Set(requiredFieldsOf(schema))
}

/** A list that is a column of the main table and a table of its own is told once. */
function onceEach(misfits: readonly Misfit[]): readonly Misfit[] {
  return misfits.length < 2 ? misfits : [...new Map(misfits.map((misfit) => [misfit.field, misfit])).values()]
}

function written({ cells, extra }: TableRow, misfits: readonly Misfit[]): ExtractedRow {
  const invalid = misfits.length === 0 ? null : misfitsText(misfits)
  return { cells, extra: extra === null ? null : JSON.stringify(extra), invalid }
}

// The whole record is kept in the records table: this is to be read by people, and by what mends a schema.
const misfitsTold = 100
const charactersTold = 2_000

/** The text of an `_invalid` cell, bounded whatever came. */
function misfitsText(misfits: readonly Misfit[]): string {
  const told: { field: string; reason: string; value: Json }[] = misfits
    .slice(0, misfitsTold)
    .map(({ field, reason, value }) => ({ field: short(field), reason, value: bounded(value) }))
  const left = misfits.length - told.length
  if (left > 0) told.push({ field: '...', reason: `${left} more are not told here`, value: null })
  return JSON.stringify(told)
}

function bounded(value: Json): Json {
  const text = JSON.stringify(value)
  return text.length <= charactersTold ? value : `${cut(text)}... (cut: ${text.length} characters of JSON)`
}

/** Keys of a map are data, and may be as long. */
function short(field: string): string {
  return field.length <= charactersTold ? field : `${cut(field)}...`
}

function cut(text: string): string {
  return text.slice(0, charactersTold).toWellFormed()
}
