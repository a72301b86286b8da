import type * as z from 'zod'
import type { Json } from '../../lib/core/json.ts'
import { type Extracted, extractorOf } from '../../lib/streams/extract.ts'
import { recordTable } from '../../lib/streams/schema-tables.ts'
import type { Stream } from '../../lib/streams/stream.ts'
import { fixtureOf, type JsonRecord } from './fixtures.ts'

/** What is found in a record beside the cells of its main row. */
export function besides({ rows, drifted }: Extracted) {
  const [row] = rows[0]!
  return { extra: parsed(row!.extra), invalid: parsed(row!.invalid), drifted }
}
export function parsed(text: string | null) {
  return text === null ? null : JSON.parse(text)
}
export const nothing = { extra: null, invalid: null, drifted: false }

/** What is extracted from a fixture's record after a change to it. */
export function extracted(stream: Stream, change: (record: JsonRecord) => void, at = 0): Extracted {
  const record = structuredClone(fixtureOf(stream)[at]!)
  change(record)
  return extractorOf(stream)(record)
}
export function inspected(...args: Parameters<typeof extracted>) {
  return besides(extracted(...args))
}

/** Extracts records of a schema into one table. */
export function extractorFor(schema: z.ZodObject) {
  return extractorOf({ tables: [recordTable(schema, { name: 'things', doc: 'Things.', key: ['id'] })] })
}

/** The part of a record at a path. */
export function at(record: Json, ...path: (string | number)[]): JsonRecord {
  return path.reduce<Json>((part, key) => (part as JsonRecord)[key] as Json, record) as JsonRecord
}

/** The cells of a stream's main row by column. */
export function mainCells(stream: Stream, { rows }: Extracted) {
  const [table] = stream.tables
  return Object.fromEntries(table.columns.map(({ name }, i) => [name, rows[0]![0]!.cells[i]]))
}
