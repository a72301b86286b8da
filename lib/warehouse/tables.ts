import { currentName } from '../streams/current.ts'
import { type Column, columnsOf, type Table } from '../streams/table.ts'
import type { Dialect, TypedColumn } from './dialect.ts'
import { type Group, tablesIn } from './groups.ts'

/**
 * Where SQL is written for: a warehouse, and a schema in it. `history`: tables that hold all versions of records, and not
 * the newest of each.
 */
export type Place = { readonly dialect: Dialect; readonly schema: string; readonly history?: boolean }

/** The table of what was loaded: a row per publication and main table. */
export function loadsName({ schema, history }: Place): string {
  return `${schema}.${history ? 'history_loads' : 'loads'}`
}

/** The table with all versions of records, as the lake has it. */
export function logName({ schema }: Place, { name }: Table): string {
  return `${schema}.${name}`
}

/** The table with the newest version of each record, deleted ones included: what comes late can't bring one back. */
export function newestName({ schema }: Place, { name }: Table): string {
  return `${schema}.${name}_newest`
}

/** Statements that make the tables and views of groups. They change nothing that is there. */
export function tableStatements(place: Place, groups: readonly Group[]): readonly string[] {
  return [
    place.dialect.makeSchema?.(place.schema) ?? `create schema if not exists ${place.schema}`,
    loadsStatement(place),
    ...groups.flatMap((group) => tablesIn(group).flatMap((table) => statementsOf(place, table, group))),
  ]
}

function loadsStatement({ dialect, ...place }: Place): string {
  const { string, int64 } = dialect.types
  const columns = [`table_name ${string}`, `run_id ${string}`, `published_at ${string}`, `row_count ${int64}`]
  return `create table if not exists ${loadsName({ dialect, ...place })} (\n  ${columns.join(',\n  ')}\n)`
}

function statementsOf(place: Place, table: Table, { main }: Group): readonly string[] {
  const { dialect } = place
  if (place.history) {
    return declaredTable(dialect, logName(place, table), { doc: table.doc, columns: columnsOf(table) })
  }
  const name = newestName(place, table)
  const isNested = table !== main
  const columns = columnsOf(table)
  const key = isNested ? table.key.slice(0, main.key.length) : table.key
  return [
    ...declaredTable(dialect, name, { doc: table.doc, columns }),
    ...dialect.indexes(name, key, isNested),
    [
      `create or replace view ${place.schema}.${currentName(table)} as`,
      `select ${columns.map((column) => column.name).join(', ')}`,
      `from ${name} where _op = 'upsert'`,
    ].join('\n'),
  ]
}

/** Statements that make a table with its comments, and give one that an older version made the columns that it lacks. */
export function declaredTable(dialect: Dialect, name: string, { doc, columns }: Described): readonly string[] {
  const lines = columns.map((column) => `  ${declared(dialect, column)}`)
  const behind = dialect.comments === 'statements' ? '' : dialect.comments.table(doc)
  return [
    `create table if not exists ${name} (\n${lines.join(',\n')}\n)${behind}`,
    ...(dialect.grow?.(name, typed(dialect, columns)) ?? []),
    ...(dialect.comments === 'statements' ? comments(dialect, name, { doc, columns }) : []),
  ]
}

function typed({ types }: Dialect, columns: readonly Column[]): readonly TypedColumn[] {
  return columns.map(({ name, type }) => ({ name, type: types[type] }))
}

function declared({ types, comments }: Dialect, { name, type, doc }: Column): string {
  return `${name} ${types[type]}${comments === 'statements' ? '' : comments.column(doc)}`
}

type Described = { doc: string; columns: readonly Column[] }

function comments({ text }: Dialect, name: string, { doc, columns }: Described): readonly string[] {
  return [
    `comment on table ${name} is ${text(doc)}`,
    ...columns.map((column) => `comment on column ${name}.${column.name} is ${text(column.doc)}`),
  ]
}
