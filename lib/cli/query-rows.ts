import type { DuckDBConnection } from '@duckdb/node-api'
import { sqlError } from './lake-database.ts'

/** A cell as JSON can say it. */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value }

/** The answer to a statement: numbers as numbers where a double holds them, times as ISO 8601 in UTC. */
export type Answer = { columns: string[]; numeric: boolean[]; rows: Value[][] }

/** Asks the database. @throws FatalError `usage` with DuckDB's own message. */
export const ask = async (connection: DuckDBConnection, sql: string): Promise<Answer> => {
  try {
    const reader = await connection.runAndReadAll(sql)
    const types = reader.columnTypes().map(String)
    const rows = reader.getRowsJson() as Value[][]
    return {
      columns: reader.deduplicatedColumnNames(),
      numeric: types.map((type) => isNumber(type)),
      rows: rows.map((row) => row.map((value, at) => readable(value, types[at] as string))),
    }
  } catch (error) {
    throw sqlError(error)
  }
}

const integers = /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/
const isNumber = (type: string): boolean => integers.test(type) || /^(DOUBLE|FLOAT|DECIMAL)/.test(type)

const readable = (value: Value, type: string): Value => {
  if (typeof value !== 'string') return value
  if (isNumber(type)) return exact(value)
  if (type.startsWith('TIMESTAMP')) return `${value.replace(' ', 'T').replace(/\+00$/, '')}Z`
  return value
}

/** A number if it says the same; DuckDB gives the wide ones as text. */
const exact = (text: string): Value => {
  const value = Number(text)
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(value) ? value : text
  return text.replace(/[^\d]/g, '').length <= 15 && Number.isFinite(value) ? value : text
}
