import type { DuckDBConnection } from '@duckdb/node-api'
import { FatalError, messageOf } from '../core/errors.ts'

/** DuckDB's own words for what is wrong with a statement. */
export function sqlError(error: unknown): FatalError {
  return error instanceof FatalError
    ? error
    : new FatalError(messageOf(error).trimEnd(), { code: 'usage', cause: error })
}

/**
 * Lets one question pass: SELECT and what is one (FROM, WITH, VALUES, PIVOT, DESCRIBE, SHOW, SUMMARIZE), or EXPLAIN of one.
 * Nothing is bound or prepared for it: that makes EXPORT DATABASE create its folder.
 * @throws FatalError `usage` for anything else, and for none or several.
 */
export async function requireQuestion(connection: DuckDBConnection, sql: string): Promise<void> {
  await requireSyntax(connection, sql)
  const question = sql.replace(/^(\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)*explain\b(\s+analyze\b|\s*\([^)]*\))?/i, '')
  for (const text of [question, withoutEnd(question)]) if (await isTable(connection, text)) return
  throw new FatalError(
    'query takes one question and changes nothing: one SELECT, FROM, WITH, VALUES, PIVOT, DESCRIBE, SHOW or SUMMARIZE, or EXPLAIN ' +
      'of one. This is something else, or nothing, or several.',
    { code: 'usage' },
  )
}

/** DuckDB has no words for a text without any statement: that is left to the caller. */
async function requireSyntax(connection: DuckDBConnection, sql: string): Promise<void> {
  try {
    await connection.extractStatements(sql)
  } catch (error) {
    const words = messageOf(error).match(/^Failed to extract statements: (.*)/s)?.[1]
    if (words) throw new FatalError(words.trimEnd(), { code: 'usage', cause: error })
  }
}

function withoutEnd(sql: string): string {
  return sql.replace(/;(\s|;|--[^\n]*(\n|$)|\/\*[\s\S]*?\*\/)*$/, '')
}

/** What may stand where a table may is one question. A pivot counts as several statements, so that their number says nothing. */
async function isTable(connection: DuckDBConnection, sql: string): Promise<boolean> {
  try {
    await connection.extractStatements(`from (\n${sql}\n)`)
    return true
  } catch {
    return false
  }
}
