import { slices } from '../core/concurrency.ts'
import { type IdentifiedColumn, identifiedColumnsOf } from '../streams/field-ids.ts'
import { type Column, columnsOf, type Table } from '../streams/table.ts'
import { sameKey } from './dialect.ts'
import { type Group, tablesIn } from './groups.ts'
import { loadsName, logName, newestName, type Place } from './tables.ts'

/** A published file, as far as a load needs it. `address` is where the warehouse finds it. */
export type LoadFile = {
  readonly table: string
  readonly address: string
  readonly rows: number
  readonly runId: string
  readonly publishedAt: string
}

/** A file of a table whose rows a load takes. */
export type FileAt = { readonly address: string }

/** One statement; `rows` are those that follow it, where a warehouse can't read the files. */
export type Statement<F extends FileAt = LoadFile> = {
  readonly sql: string
  readonly rows?: { readonly columns: readonly IdentifiedColumn[]; readonly files: readonly F[] }
}

/**
 * Statements that bring files into a group's tables: stage, newest of each key, MERGE, then the nested rows of the parents'
 * versions; or where there is to be history, stage and what is not there. Each of them can be repeated: what is older than a row changes nothing, so that a load that broke, came twice
 * or came out of order ends as one that did not.
 */
export function loadStatements<F extends LoadFile>(
  place: Place,
  group: Group,
  files: readonly F[],
): readonly Statement<F>[] {
  if (files.length === 0) return []
  const { dialect } = place
  const filled = tablesIn(group).flatMap((table) => {
    const own = files.filter((file) => file.table === table.name)
    return fillStatements(place, { stage: stageName(place, table), columns: identifiedColumnsOf(table), files: own })
  })
  const merged = [
    dialect.begin,
    ...(place.history
      ? tablesIn(group).map((table) => appendVersions(place, table))
      : [...merge(place, group.main), ...group.nested.flatMap((table) => replaceNested(place, group.main, table))]),
    dialect.commit,
    ...tablesIn(group).map((table) => `drop table ${stageName(place, table)}`),
  ]
  return [...filled, ...merged.filter((sql) => sql !== '').map((sql) => ({ sql }))]
}

function stageName({ dialect, schema }: Place, { name }: Table): string {
  return `${dialect.stagePrefix(schema)}stage_${name}`
}

type Filling<F> = { stage: string; columns: readonly IdentifiedColumn[]; files: readonly F[] }

/** Statements that make a stage anew, and fill it with the rows of files. */
export function fillStatements<F extends FileAt>(
  { dialect }: Place,
  { stage, columns, files }: Filling<F>,
): readonly Statement<F>[] {
  const types = { ...dialect.types, ...dialect.stageTypes }
  const statements = dialect.fill({
    name: stage,
    columns: columns.map(({ name, type }) => ({ name, type: types[type] })),
    files: files.map(({ address }) => address),
  })
  return statements.map((sql, at) => {
    const hasRows = dialect.inlineRows === true && files.length > 0 && at === statements.length - 1
    return hasRows ? { sql, rows: { columns, files } } : { sql }
  })
}

/** Adds the versions that are not there yet: a row is one by its key and its place in a scan. */
function appendVersions(place: Place, table: Table): string {
  const columns = columnsOf(table)
  const target = logName(place, table)
  const key = [...table.key, '_scan_id', '_sequence'].map((column) => [column, column] as const)
  return [
    `insert into ${target} (${columns.map(({ name }) => name).join(', ')})`,
    `select ${columns.map((column) => cellOf(place, column, 'staged')).join(', ')}`,
    `from ${stageName(place, table)} as staged`,
    `where not exists (select 1 from ${target} as kept where ${sameKey('kept', 'staged', key)})`,
  ].join('\n')
}

function merge(place: Place, table: Table): readonly string[] {
  const columns = columnsOf(table)
  const stage = stageName(place, table)
  const order = `partition by ${table.key.join(', ')} order by _synced_at desc, _sequence desc`
  const fresh = [
    `  select ${columns.map((column) => cellOf(place, column, 'versions')).join(', ')}`,
    `  from (select *, row_number() over (${order}) as _age from ${stage}) as versions`,
    '  where _age = 1',
  ].join('\n')
  const names = columns.map(({ name }) => name)
  return place.dialect.merge({ target: newestName(place, table), stage, fresh, columns: names, key: table.key })
}

/** A staged column as its table has it. */
export function cellOf({ dialect }: Place, { name, type }: Column, from: string): string {
  const cell = `${from}.${name}`
  const value = type === 'json' ? dialect.json(cell) : cell
  return value === cell ? cell : `${value} as ${name}`
}

/** What is left of a changed parent's rows after the first statement is of its version, and was loaded whole. */
function replaceNested(place: Place, main: Table, table: Table): readonly string[] {
  const columns = columnsOf(table)
  const [target, parent] = [newestName(place, table), newestName(place, main)]
  const key = main.key.map((column, at) => [column, table.key[at] as string] as const)
  const version = [...key, ['_scan_id', '_scan_id'], ['_sequence', '_sequence']] as const
  const own = key.map(([, column]) => [column, column] as const)
  return [
    place.dialect.dropOrphans({ target, parent, stage: stageName(place, main), key }),
    [
      `insert into ${target} (${columns.map(({ name }) => name).join(', ')})`,
      `select ${columns.map((column) => cellOf(place, column, 'child')).join(', ')}`,
      `from ${stageName(place, table)} as child`,
      `join ${parent} as parent on ${sameKey('parent', 'child', version)} and parent._op = 'upsert'`,
      `where not exists (select 1 from ${target} as loaded where ${sameKey('loaded', 'child', own)})`,
    ].join('\n'),
  ]
}

/** So many publications are marked by one statement. */
const marksAtOnce = 200

/**
 * Statements that mark what was loaded. They come after those of all groups: a watermark over all tables may not pass one
 * whose load broke.
 */
export function markStatements(place: Place, groups: readonly Group[], files: readonly LoadFile[]): readonly string[] {
  const { begin, commit } = place.dialect
  const marked = slices(marksOf(place, groups, files), marksAtOnce).map((some) => markAll(place, some))
  return marked.length === 0 ? [] : [begin, ...marked, commit].filter((sql) => sql !== '')
}

function marksOf(
  { dialect: { text } }: Place,
  groups: readonly Group[],
  files: readonly LoadFile[],
): readonly string[] {
  const mains = new Map(groups.flatMap((group) => tablesIn(group).map(({ name }) => [name, group.main.name])))
  const known = files.filter(({ table }) => mains.has(table))
  const loads = Map.groupBy(known, ({ table, publishedAt, runId }) => `${publishedAt} ${runId} ${mains.get(table)}`)
  return [...loads]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, some]) => {
      const { table, runId, publishedAt } = some[0] as LoadFile
      const sum = some.reduce((total, { rows }) => total + rows, 0)
      const main = text(mains.get(table) ?? table)
      return `select ${main} as table_name, ${text(runId)} as run_id, ${text(publishedAt)} as published_at, ${sum} as row_count`
    })
}

function markAll(place: Place, marks: readonly string[]): string {
  const loads = loadsName(place)
  return [
    `insert into ${loads} (table_name, run_id, published_at, row_count)`,
    'select fresh.table_name, fresh.run_id, fresh.published_at, fresh.row_count',
    `from (\n  ${marks.join('\n  union all ')}\n) as fresh`,
    `where not exists (select 1 from ${loads} as kept where ${sameKey('kept', 'fresh', markKey)})`,
  ].join('\n')
}

const markKey = ['table_name', 'run_id', 'published_at'].map((column) => [column, column] as const)
