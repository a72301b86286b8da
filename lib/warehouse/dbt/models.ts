import { currentName, currentQuery, isOfVersion, type Naming } from '../../streams/current.ts'
import { runsTable } from '../../streams/runs-table.ts'
import type { Stream } from '../../streams/stream.ts'
import { columnsOf, type Table } from '../../streams/table.ts'

/** The names of the package and of its sources. */
export const packageName = 'platform_sync'
export const runsSource = `${packageName}_runs`

/** The name of the model with the versions of a table's rows, each with the time for which it stood. */
export function historyName({ name }: Pick<Table, 'name'>): string {
  return `${name}_history`
}

/** Whether rows of a table have a life: what happened does not change, and has no versions. */
export function hasHistory({ mode, tables }: Stream, { name }: Pick<Table, 'name'>): boolean {
  return mode !== 'append' && tables.some((table) => table.name === name)
}

function source(name: string, of = packageName): string {
  return `{{ source('${of}', '${name}') }}`
}

function ref(model: string): string {
  return `{{ ref('${model}') }}`
}

const naming: Naming = { log: ({ name }) => source(name), current: (table) => ref(currentName(table)) }

/** The model of a table's current state. */
export function currentModel(stream: Stream, table: Table): string {
  return currentQuery(stream, table, naming)
}

/**
 * The model of a table's versions. One ends where the next begins, also where that is a delete; what was replaced within
 * the scan that brought it stood for no time. A nested row stands as long as the version of its parent.
 */
export function historyModel({ tables: [main] }: Stream, table: Table): string {
  const columns = columnsOf(table).map(({ name }) => name)
  if (table.name !== main.name) {
    return [
      `select ${columns.map((name) => `child.${name}`).join(', ')}, parent.valid_from, parent.valid_to`,
      `from ${source(table.name)} as child`,
      `join ${ref(historyName(main))} as parent`,
      `  on ${isOfVersion(main, table)}`,
    ].join('\n')
  }
  const order = `partition by ${table.key.join(', ')} order by _synced_at, _sequence`
  return [
    `select ${columns.join(', ')}, valid_from, valid_to`,
    'from (',
    `  select *, _synced_at as valid_from, lead(_synced_at) over (${order}) as valid_to`,
    `  from ${source(table.name)}`,
    ') as versions',
    "where _op = 'upsert' and (valid_to is null or valid_to > valid_from)",
  ].join('\n')
}

/** The model of how fresh each stream is. */
export function freshnessModel(): string {
  return [
    'select stream, max(complete_at) as complete_at, max(finished_at) as finished_at',
    `from ${source(runsTable.name, runsSource)}`,
    'group by stream',
  ].join('\n')
}

/** A test that finds the streams that did not come in. */
export function freshnessTest(): string {
  return [
    "{{ config(severity = 'warn') }}",
    'select stream, complete_at',
    `from ${ref('stream_freshness')}`,
    `where complete_at is null or complete_at < {{ dbt.dateadd('hour', -1 * var('platform_sync_hours', 26), '(' ~ platform_sync.utc_now() ~ ')') }}`,
  ].join('\n')
}

/** A test that finds keys which are there twice. */
export function keysTest(model: string, { key }: Pick<Table, 'key'>): string {
  const columns = key.join(', ')
  return `select ${columns}\nfrom ${ref(model)}\ngroup by ${columns}\nhaving count(*) > 1`
}

/** A test that finds versions of one row that overlap, or end before they begin. */
export function periodsTest(table: Pick<Table, 'name' | 'key'>): string {
  const columns = table.key.join(', ')
  return [
    `select ${columns}, valid_from, valid_to, next_from`,
    'from (',
    `  select ${columns}, valid_from, valid_to, lead(valid_from) over (partition by ${columns} order by valid_from) as next_from`,
    `  from ${ref(historyName(table))}`,
    ') as versions',
    'where valid_to <= valid_from or next_from < valid_to or (valid_to is null and next_from is not null)',
  ].join('\n')
}
