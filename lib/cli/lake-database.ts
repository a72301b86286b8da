import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { runsPrefix } from '../stores/lake-paths.ts'
import { currentName } from '../streams/current.ts'
import { streams } from '../streams/index.ts'
import { runsColumns, runsTable } from '../streams/runs-table.ts'
import { tablesOf } from '../streams/stream.ts'
import { type Column, columnsOf, type Table } from '../streams/table.ts'
import { currentViews } from '../streams/views.ts'
import { quoted } from '../warehouse/dialect.ts'
import { duckdb } from '../warehouse/duckdb.ts'
import { commentViews } from './lake-comments.ts'
import {
  type CurrentPlace,
  download,
  downloadCurrent,
  type LocalFile,
  nameOf,
  type PublishedLake,
} from './lake-files.ts'
import { createFreshness, freshnessView } from './lake-freshness.ts'
import { downloadRuns } from './lake-runs.ts'
import { type Answer, ask } from './query-rows.ts'
import { columnsIn } from './question-columns.ts'
import { requireQuestion, sqlError } from './read-only.ts'

/** The lake as a database that can be asked and not changed. */
type LakeDatabase = { connection: DuckDBConnection; close(): Promise<void> }

const quarantineColumns = ['stream', 'key', 'reasons', 'raw', 'run_id', 'scan_id'] as const

/**
 * Loads the published files that a statement needs (all, without one) into a folder of its own, and opens them as views: each table's
 * change log, `<table>_current`, `quarantine`, `_freshness` and `_runs`. Nothing outside that folder can be reached from SQL.
 */
export async function openLakeDatabase(from: PublishedLake, sql?: string, signal?: AbortSignal): Promise<LakeDatabase> {
  const database = await openWith(from, { sql, signal, columnwise: true })
  if (sql === undefined || (await isUnderstood(database, sql))) return database
  // What is wrong with a question is said with all columns in view.
  await database.close()
  return await openWith(from, { sql, signal, columnwise: false })
}

/** The answer of the lake to one question. At an abort it stops, and throws. @throws FatalError `usage` for what is no question. */
export async function askLake(from: PublishedLake, sql: string, signal?: AbortSignal): Promise<Answer> {
  const database = await openLakeDatabase(from, sql, signal)
  try {
    return await ask(database.connection, sql, signal)
  } finally {
    await database.close()
  }
}

async function isUnderstood({ connection }: LakeDatabase, sql: string): Promise<boolean> {
  return await connection.prepare(sql).then(
    (statement) => {
      statement.destroySync()
      return true
    },
    () => false,
  )
}

type Opening = { sql: string | undefined; signal: AbortSignal | undefined; columnwise: boolean }

async function openWith(from: PublishedLake, { sql, signal, columnwise }: Opening): Promise<LakeDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-sync-query-'))
  const instance = await DuckDBInstance.create(':memory:', {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  const close = async () => {
    connection.closeSync()
    instance.closeSync()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await connection.run("set timezone = 'UTC'")
    const names = sql === undefined ? null : await namesIn(connection, sql)
    const published = await from.lake.readFiles()
    const place = { objects: from.objects, folder, signal }
    const columns = sql === undefined || !columnwise ? null : await columnsIn(connection, sql)
    const current = await currentOf(names, { from, published, place: { ...place, columns } })
    const needed = neededBy(names, new Set(current.map(({ name }) => name)))
    const local = await download(
      published.filter((file) => needed(nameOf(file))),
      place,
    )
    await createViews(connection, [...local, ...current.flatMap(({ files }) => files)], current)
    const runs = needed(runsTable.name)
      ? await downloadRuns(await from.objects.list(runsPrefix), { ...from, folder })
      : []
    await connection.run(`create view ${runsTable.name} as ${typedRows(runsColumns, runs)}`)
    await createFreshness(connection, needed(freshnessView) ? from.checkpoints : undefined)
    if (sql !== undefined) await commentViews(connection, sql)
    await connection.run(`set allowed_directories = [${quoted(`${folder}/`)}]`)
    await connection.run('set enable_external_access = false')
    await connection.run('set lock_configuration = true')
    return { connection, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The tables and views that a question names; null when that can't be told. @throws FatalError for wrong SQL. */
async function namesIn(connection: DuckDBConnection, sql: string): Promise<ReadonlySet<string> | null> {
  await requireQuestion(connection, sql)
  const names = sqlNames(connection, sql).map((name) => name.toLowerCase())
  return names.length === 0 ? null : new Set(names)
}

/** A current state that is there as files, and need not be made from the change log. */
type Current = { name: string; table: Table; columns: ReadonlySet<string> | null; files: readonly LocalFile[] }

type Reading = {
  from: PublishedLake
  published: Awaited<ReturnType<PublishedLake['lake']['readFiles']>>
  place: CurrentPlace
}

/** The current states that a question names and that are there as files, unless it needs the change log anyway. */
async function currentOf(names: ReadonlySet<string> | null, { from, published, place }: Reading): Promise<Current[]> {
  const found: Current[] = []
  for (const stream of streams) {
    for (const table of tablesOf(stream)) {
      const name = currentName(table)
      if (!names?.has(name) || names.has(table.name)) continue
      const files = await from.currentFiles?.({ stream, table, published })
      if (!files) continue
      const columns = place.columns && columnsNeeded(table, place.columns)
      found.push({ name, table, columns, files: await downloadCurrent(name, files, { ...place, columns }) })
    }
  }
  return found
}

/** The columns of a table that a question may mean; a view has one at least. */
function columnsNeeded(table: Table, named: ReadonlySet<string>): ReadonlySet<string> {
  const own = columnsOf(table).map(({ name }) => name)
  const needed = own.filter((name) => named.has(name))
  return new Set(needed.length > 0 ? needed : table.key.slice(0, 1))
}

/** Which tables' files a question needs, besides current states; all of them when that can't be told. */
function neededBy(names: ReadonlySet<string> | null, current: ReadonlySet<string>): (name: string) => boolean {
  if (names === null) return () => true
  const needed = new Set(names)
  for (const stream of streams) {
    for (const table of tablesOf(stream)) {
      const name = currentName(table)
      if (!names.has(name) || current.has(name)) continue
      needed.add(table.name)
      needed.add(stream.tables[0].name)
    }
  }
  return (name) => needed.has(name)
}

function sqlNames(connection: DuckDBConnection, sql: string): readonly string[] {
  try {
    return [...connection.getTableNames(sql, false)]
  } catch (error) {
    throw sqlError(error)
  }
}

async function createViews(
  connection: DuckDBConnection,
  files: readonly LocalFile[],
  current: readonly Current[],
): Promise<void> {
  const pathsOf = (wanted: string) => files.filter(({ name }) => name === wanted).map(({ path }) => path)
  for (const stream of streams) {
    for (const table of tablesOf(stream))
      await connection.run(`create view ${table.name} as ${typedRows(columnsOf(table), pathsOf(table.name))}`)
  }
  for (const { name, query } of currentViews(streams)) await connection.run(`create view ${name} as ${query}`)
  // Last: views of nested tables that nobody asks for build on columns that may not be there.
  for (const state of current) {
    const { name } = state
    await connection.run(`create or replace view ${name} as ${currentState(state, pathsOf(name))}`)
  }
  await connection.run(`create view quarantine as ${quarantine(pathsOf('quarantine'))}`)
}

const { types } = duckdb

/** The declared columns in the declared types, whatever files there are; older files may lack newer columns. */
function typedRows(columns: readonly Column[], paths: readonly string[]): string {
  const nothing = `select ${columns.map(({ name, type }) => `null::${types[type]} as ${name}`).join(', ')} where false`
  if (paths.length === 0) return nothing
  const casts = columns.map(({ name, type }) => `${name}::${types[type]} as ${name}`).join(', ')
  const read = `select * from read_parquet([${paths.map(quoted).join(', ')}], union_by_name = true)`
  return `select ${casts} from (${nothing} union all by name ${read})`
}

/** The rows of a current state, with the columns that its files are there with. */
function currentState({ table, columns }: Current, paths: readonly string[]): string {
  return typedRows(
    columnsOf(table).filter(({ name }) => columns === null || columns.has(name)),
    paths,
  )
}

function quarantine(paths: readonly string[]): string {
  const columns = quarantineColumns.map((name) => ({ name, type: name === 'reasons' ? 'varchar[]' : 'varchar' }))
  if (paths.length === 0) {
    return `select ${columns.map(({ name, type }) => `null::${type} as ${name}`).join(', ')} where false`
  }
  const typed = columns.map(({ name, type }) => `${name}: ${quoted(type)}`).join(', ')
  return `select * from read_json([${paths.map(quoted).join(', ')}], format = 'newline_delimited', compression = 'gzip', columns = {${typed}})`
}
