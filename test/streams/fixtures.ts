import { readFileSync } from 'node:fs'
import { type Json, parseJson } from '../../lib/core/json.ts'
import { encodeParquet } from '../../lib/stores/row-files.ts'
import { identifiedColumnsOf } from '../../lib/streams/field-ids.ts'
import type { Stream } from '../../lib/streams/stream.ts'
import { type Cell, columnsOf, type Table } from '../../lib/streams/table.ts'

export type JsonRecord = { [key: string]: Json }

/** A few realistic records of a stream, as the API sends them. */
export function fixtureOf({ name }: Pick<Stream, 'name'>): JsonRecord[] {
  return parseJson(readFileSync(new URL(`../fixtures/streams/${name}.json`, import.meta.url), 'utf8')) as JsonRecord[]
}

/** The rows that records yield in a table, as objects by column name. */
export function rowsOf(table: Table, records: readonly Json[]): Record<string, Cell>[] {
  return records.flatMap((record) =>
    table
      .read(record)
      .rows.map(({ cells }) => Object.fromEntries(table.columns.map(({ name }, i) => [name, cells[i] as Cell]))),
  )
}

/** Names that are equal once case is set aside: Athena can't tell them apart (LAKE-04). */
export function caseCollisions(names: readonly string[]): string[] {
  const seen = new Set<string>()
  return names.filter((name) => seen.size === seen.add(name.toLowerCase()).size)
}

/** Rows of a table as a Parquet file. */
export function parquetOf(table: Table, rows: Cell[][]): ArrayBuffer {
  const group = columnsOf(table).map((_, i) => rows.map((cells) => cells[i] ?? null))
  return encodeParquet(table, identifiedColumnsOf(table), group).slice().buffer as ArrayBuffer
}
