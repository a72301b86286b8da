import {
  type DuckDBConnection,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBValueConverter,
  type Json,
  JsonDuckDBValueConverter,
} from '@duckdb/node-api'
import { requireQuestion, sqlError } from './read-only.ts'

/** A cell as JSON can say it. */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value }

/** The answer to a statement: numbers as numbers where a double holds them, times as ISO 8601 in UTC. */
export type Answer = { columns: string[]; numeric: boolean[]; rows: Value[][] }

/**
 * Asks the database one question. At an abort it stops, and throws.
 * @throws FatalError `usage` with DuckDB's own message, or when the statement is no question.
 */
export async function ask(connection: DuckDBConnection, sql: string, signal?: AbortSignal): Promise<Answer> {
  const interrupt = () => connection.interrupt()
  signal?.addEventListener('abort', interrupt, { once: true })
  try {
    await requireQuestion(connection, sql)
    signal?.throwIfAborted()
    const reader = await connection.runAndReadAll(sql)
    const types = reader.columnTypes().map(String)
    const rows = reader.convertRows(readable) as Value[][]
    return {
      columns: reader.deduplicatedColumnNames(),
      numeric: types.map((type) => isNumber(type)),
      rows: rows.map((row) => row.map((value, at) => numberIn(value, types[at] as string))),
    }
  } catch (error) {
    throw sqlError(error)
  } finally {
    signal?.removeEventListener('abort', interrupt)
  }
}

/** Times, at any depth, without regard to the zone of this machine; all else as the library writes JSON. */
const readable: DuckDBValueConverter<Json> = (value, type, converter) => {
  if (value instanceof DuckDBTimestampTZValue) return iso(new DuckDBTimestampValue(value.micros))
  if (times.some((time) => value instanceof time)) return iso(value as object)
  return JsonDuckDBValueConverter(value, type, converter)
}

const times = [
  DuckDBTimestampValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
] as const

/** Infinite times, and those before Christ, stay in DuckDB's words. */
function iso(value: object): string {
  const text = String(value)
  return /^\d{4,6}-/.test(text) && !text.endsWith('(BC)') ? `${text.replace(' ', 'T')}Z` : text
}

const integers = /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/
function isNumber(type: string): boolean {
  return integers.test(type) || /^(DOUBLE|FLOAT|DECIMAL)/.test(type)
}

function numberIn(value: Value, type: string): Value {
  return typeof value === 'string' && isNumber(type) && !type.endsWith(']') ? exact(value) : value
}

/** A number if it says the same; DuckDB gives the wide ones as text. */
function exact(text: string): Value {
  const value = Number(text)
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(value) ? value : text
  return text.replace(/[^\d]/g, '').length <= 15 && Number.isFinite(value) ? value : text
}
