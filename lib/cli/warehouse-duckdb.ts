import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { PublishedFile } from '../publish/manifest.ts'
import type { Group } from '../warehouse/groups.ts'
import { loadStatements, markStatements } from '../warehouse/load.ts'
import { runsStatements, runsTableStatements } from '../warehouse/runs.ts'
import { loadsName, type Place, tableStatements } from '../warehouse/tables.ts'
import { download } from './lake-files.ts'
import { downloadRuns } from './lake-runs.ts'
import { atPath } from './out-path.ts'
import { filesOf, type LoadableLake } from './warehouse-script.ts'

type Asked = { place: Place; groups: readonly Group[]; runs: boolean; database: string; signal: AbortSignal }

/** What a load brought into a main table and the nested ones of it. */
type Loaded = { table: string; publications: number; files: number; rows: number }

/**
 * Loads what is published, and was not yet, into a DuckDB file, and makes file and tables where there are none. Each main
 * table with its nested ones is one transaction.
 */
export async function loadIntoDuckDb(
  lake: LoadableLake,
  { place, groups, runs, database, signal }: Asked,
): Promise<Loaded[]> {
  const instance = await atPath(database, () => DuckDBInstance.create(database))
  const connection = await instance.connect()
  try {
    const { settings, begin, commit } = place.dialect
    const made = [...tableStatements(place, groups), ...(runs ? runsTableStatements(place) : [])]
    for (const sql of [...settings, begin, ...made, commit]) await connection.run(sql)
    const published = await lake.lake.readFiles()
    const loaded: Loaded[] = []
    for (const group of groups) {
      const done = await loadsOf(connection, place, group)
      const files = filesOf(group, published).filter((file) => !done.has(publicationOf(file)))
      if (files.length === 0) continue
      await loadGroup(connection, { lake, place, group, files, signal })
      loaded.push(sumOf(group, files))
    }
    if (runs) await loadRuns(connection, lake, place)
    return loaded
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

function publicationOf({ runId, publishedAt }: Pick<PublishedFile, 'runId' | 'publishedAt'>): string {
  return `${publishedAt} ${runId}`
}

/** The publications that a group has, by the table of loads: what comes late into a list is not passed over. */
async function loadsOf(connection: DuckDBConnection, place: Place, { main }: Group): Promise<ReadonlySet<string>> {
  const question = `select run_id, published_at from ${loadsName(place)} where table_name = ${place.dialect.text(main.name)}`
  const rows = (await connection.runAndReadAll(question)).getRowsJson()
  return new Set(
    rows.map(([runId, publishedAt]) => publicationOf({ runId: `${runId}`, publishedAt: `${publishedAt}` })),
  )
}

type Part = {
  lake: LoadableLake
  place: Place
  group: Group
  files: readonly PublishedFile[]
  signal: AbortSignal
}

async function loadGroup(connection: DuckDBConnection, { lake, place, group, files, signal }: Part): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-sync-warehouse-'))
  try {
    const local = await download(files, { objects: lake.objects, folder, signal })
    const paths = new Map(local.map(({ key, path }) => [key, path]))
    const addressed = files.map((file) => ({ ...file, address: paths.get(file.key) ?? file.key }))
    const marks = markStatements(place, [group], addressed).map((sql) => ({ sql }))
    for (const { sql } of [...loadStatements(place, group, addressed), ...marks]) {
      signal.throwIfAborted()
      await connection.run(sql)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The table of runs comes in whole: it is a file a month. */
async function loadRuns(connection: DuckDBConnection, { objects }: LoadableLake, place: Place): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-sync-warehouse-'))
  try {
    const paths = await downloadRuns(objects, folder)
    const files = paths.map((address) => ({ address }))
    for (const { sql } of runsStatements(place, files)) await connection.run(sql)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function sumOf({ main }: Group, files: readonly PublishedFile[]): Loaded {
  return {
    table: main.name,
    publications: new Set(files.map(publicationOf)).size,
    files: files.length,
    rows: files.reduce((sum, { rows }) => sum + rows, 0),
  }
}
