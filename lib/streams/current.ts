import type { Stream } from './stream.ts'
import { columnsOf, type Table } from './table.ts'

/** Name of the view that shows a table as it is now. */
export function currentName(table: Pick<Table, 'name'>): string {
  return `${table.name}_current`
}

/**
 * SQL of the query behind `<table>_current`, for any engine that knows window functions. Of a stream's main table, and of
 * one that an observer fills, it is the newest row of each key unless that row is a delete; of a nested one, the rows of the parents' newest versions
 * (through the main table's view, which must be there).
 */
export function currentQuery(stream: Stream, table: Table, names: Naming = plain): string {
  const [main, ...nested] = stream.tables
  return !nested.some(({ name }) => name === table.name)
    ? newestVersions(table, names)
    : partsOfNewest(main, table, names)
}

/** How a query names what it reads. */
export type Naming = {
  readonly log: (table: Pick<Table, 'name'>) => string
  readonly current: (table: Pick<Table, 'name'>) => string
}

const plain: Naming = { log: ({ name }) => name, current: currentName }

function newestVersions(table: Table, { log }: Naming): string {
  const columns = columnsOf(table).map(({ name }) => name)
  return [
    `select ${columns.join(', ')}`,
    'from (',
    `  select *, row_number() over (partition by ${table.key.join(', ')} order by _synced_at desc, _sequence desc) as _age`,
    `  from ${log(table)}`,
    ') as versions',
    "where _age = 1 and _op = 'upsert'",
  ].join('\n')
}

function partsOfNewest(main: Pick<Table, 'name' | 'key'>, table: Table, { log, current }: Naming): string {
  return [
    'select child.*',
    `from ${log(table)} as child`,
    `join ${current(main)} as parent`,
    `  on ${isOfVersion(main, table)}`,
  ].join('\n')
}

/** A condition that a row of a nested table, `child`, belongs to a version of a main one's, `parent`. */
export function isOfVersion(main: Pick<Table, 'key'>, table: Pick<Table, 'key'>): string {
  const key = main.key.map((column, at) => [column, table.key[at]])
  const matches = [...key, ['_scan_id', '_scan_id'], ['_sequence', '_sequence']]
  return matches.map(([ofParent, ofChild]) => `parent.${ofParent} = child.${ofChild}`).join(' and ')
}
