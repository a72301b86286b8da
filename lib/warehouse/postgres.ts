import type { Cell, Column } from '../streams/table.ts'
import { columnLines, type Dialect, quoted, standardDropOrphans, standardMerge } from './dialect.ts'

/**
 * PostgreSQL 15 and later, by psql. It can't read Parquet, so the rows stand in the script. JSON is `json`: `jsonb` refuses
 * texts with U+0000, and one such value would stop the load.
 */
export const postgres: Dialect = {
  types: {
    string: 'text',
    json: 'json',
    int64: 'bigint',
    double: 'double precision',
    boolean: 'boolean',
    timestamp: 'timestamptz',
  },
  stageTypes: {},
  json: (cell) => cell,
  text: quoted,
  comments: 'statements',
  indexes: (table, key, isNested) => [
    `create ${isNested ? '' : 'unique '}index if not exists ${table.replace(/^.*\./, '')}_key on ${table} (${key.join(', ')})`,
  ],
  stagePrefix: () => '',
  fill: ({ name, columns, files }) => [
    `drop table if exists pg_temp.${name}`,
    `create temporary table ${name} ${columnLines(columns)}`,
    ...(files.length === 0 ? [] : [`copy ${name} (${columns.map((column) => column.name).join(', ')}) from stdin`]),
  ],
  inlineRows: true,
  toolSettings: ['\\set ON_ERROR_STOP on'],
  settings: ["set client_encoding = 'UTF8'"],
  // `if not exists` asks for the right to make one also where it is there.
  makeSchema: (schema) =>
    `do $$ begin if to_regnamespace(${quoted(schema)}) is null then create schema ${schema}; end if; end $$`,
  begin: 'begin',
  commit: 'commit',
  merge: standardMerge,
  dropOrphans: standardDropOrphans,
}

/** A row as `copy ... from stdin` reads it: a line in its text format. */
export function copyLine(cells: readonly Cell[], columns: readonly Column[]): string {
  return `${cells.map((cell, at) => copyCell(cell, columns[at]?.type)).join('\t')}\n`
}

const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': '\uFFFD' }

/** U+0000, which no text of PostgreSQL can hold, becomes U+FFFD. */
function copyCell(cell: Cell, type: Column['type'] | undefined): string {
  if (cell === null) return '\\N'
  if (type === 'timestamp') return new Date(Number(cell)).toISOString()
  return String(cell).replaceAll(/[\\\t\n\r\0]/g, (found) => escapes[found] ?? found)
}
