import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { FatalError, messageOf, RetryableError } from '../core/errors.ts'
import { publishedStreams as streams } from '../published-streams.ts'
import { currentName } from '../streams/current.ts'
import { tablesOf } from '../streams/stream.ts'
import { type Column, columnsOf, type Table } from '../streams/table.ts'
import { currentViews } from '../streams/views.ts'
import type { Manifest, PartFile } from '../sync/manifest.ts'

/** What is published, as the warehouse's readers see it. */
export type PublishedLake = {
  lake: { readManifests(): Promise<Manifest[]> }
  objects: { get(key: string): Promise<Uint8Array | null> }
}

/** The lake as a database that can be asked and not changed. */
export type LakeDatabase = { connection: DuckDBConnection; close(): Promise<void> }

const quarantineColumns = ['stream', 'key', 'reasons', 'raw', 'runId', 'scanId'] as const

/**
 * Loads the published files that a statement needs (all, without one) into a folder of its own, and opens them as views: each table's
 * change log, `<table>_current`, and `quarantine`. Nothing outside that folder can be reached from SQL.
 */
export const openLakeDatabase = async ({ lake, objects }: PublishedLake, sql?: string): Promise<LakeDatabase> => {
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
    const needed = sql === undefined ? () => true : tablesIn(connection, sql)
    const files = (await lake.readManifests()).flatMap(({ scans }) => scans.flatMap((scan) => scan.files))
    const local = await download(
      files.filter((file) => needed(nameOf(file))),
      { objects, folder },
    )
    await createViews(connection, local)
    await connection.run(`set allowed_directories = [${text(`${folder}/`)}]`)
    await connection.run('set enable_external_access = false')
    await connection.run('set lock_configuration = true')
    return { connection, close }
  } catch (error) {
    await close()
    throw error
  }
}

const nameOf = ({ kind, table }: PartFile): string => (kind === 'quarantine' ? 'quarantine' : table)

/** Which tables' files a statement needs; all of them when that can't be told. @throws FatalError for wrong SQL. */
const tablesIn = (connection: DuckDBConnection, sql: string): ((name: string) => boolean) => {
  const names = new Set(sqlNames(connection, sql).map((name) => name.toLowerCase()))
  if (names.size === 0) return () => true
  const needed = new Set(names)
  for (const stream of streams) {
    for (const table of tablesOf(stream)) {
      if (!names.has(currentName(table))) continue
      needed.add(table.name)
      needed.add(stream.tables[0].name)
    }
  }
  return (name) => needed.has(name)
}

const sqlNames = (connection: DuckDBConnection, sql: string): readonly string[] => {
  try {
    return [...connection.getTableNames(sql, false)]
  } catch (error) {
    throw sqlError(error)
  }
}

/** DuckDB's own words for what is wrong with a statement. */
export const sqlError = (error: unknown): FatalError =>
  new FatalError(messageOf(error).trimEnd(), { code: 'usage', cause: error })

const downloadsAtOnce = 8

type Local = { name: string; path: string }

const download = async (
  files: readonly PartFile[],
  { objects, folder }: { objects: PublishedLake['objects']; folder: string },
): Promise<Local[]> => {
  const waiting = files.map((file, at) => ({ file, path: join(folder, `${at}`) }))
  const done: Local[] = []
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const bytes = await objects.get(next.file.key)
      if (bytes === null) throw gone(next.file.key)
      await writeFile(next.path, bytes)
      done.push({ name: nameOf(next.file), path: next.path })
    }
  }
  await Promise.all(Array.from({ length: downloadsAtOnce }, work))
  return done
}

const gone = (key: string) =>
  new RetryableError(
    `${key} is listed in a manifest and is not there. Try again; if it stays so, restore the object.`,
    {
      code: 'storage_unavailable',
    },
  )

const createViews = async (connection: DuckDBConnection, files: readonly Local[]): Promise<void> => {
  const pathsOf = (wanted: string) => files.filter(({ name }) => name === wanted).map(({ path }) => path)
  for (const stream of streams) {
    for (const table of tablesOf(stream))
      await connection.run(`create view ${table.name} as ${changeLog(table, pathsOf(table.name))}`)
  }
  for (const { name, query } of currentViews(streams)) await connection.run(`create view ${name} as ${query}`)
  await connection.run(`create view quarantine as ${quarantine(pathsOf('quarantine'))}`)
}

const types = {
  string: 'varchar',
  json: 'varchar',
  int64: 'bigint',
  double: 'double',
  boolean: 'boolean',
  timestamp: 'timestamp',
} as const satisfies Record<Column['type'], string>

/** The declared columns in the declared types, whatever files there are; older files may lack newer columns. */
const changeLog = (table: Table, paths: readonly string[]): string => {
  const columns = columnsOf(table)
  const nothing = `select ${columns.map(({ name, type }) => `null::${types[type]} as ${name}`).join(', ')} where false`
  if (paths.length === 0) return nothing
  const casts = columns.map(({ name, type }) => `${name}::${types[type]} as ${name}`).join(', ')
  const read = `select * from read_parquet([${paths.map(text).join(', ')}], union_by_name = true)`
  return `select ${casts} from (${nothing} union all by name ${read})`
}

const quarantine = (paths: readonly string[]): string => {
  const names = quarantineColumns.map((name) => name.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`))
  if (paths.length === 0) {
    return `select ${names.map((name) => `null::${name === 'reasons' ? 'varchar[]' : 'varchar'} as ${name}`).join(', ')} where false`
  }
  const columns = quarantineColumns.map((name) => `${name}: ${text(name === 'reasons' ? 'VARCHAR[]' : 'VARCHAR')}`)
  const read = `read_json([${paths.map(text).join(', ')}], format = 'newline_delimited', compression = 'gzip', columns = {${columns.join(', ')}})`
  return `select ${quarantineColumns.map((name, at) => `"${name}" as ${names[at]}`).join(', ')} from ${read}`
}

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`
