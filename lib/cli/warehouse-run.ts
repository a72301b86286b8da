import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PublishedFile } from '../publish/manifest.ts'
import type { Group } from '../warehouse/groups.ts'
import { type FileAt, loadStatements, markStatements, type Statement } from '../warehouse/load.ts'
import { newestRunQuestion, runsStatements, runsTableStatements } from '../warehouse/runs.ts'
import { loadsName, type Place, tableStatements } from '../warehouse/tables.ts'
import { download, intact } from './lake-files.ts'
import { downloadRuns } from './lake-runs.ts'
import { filesOf, type LoadableLake, rowLines, runsFiles } from './warehouse-script.ts'

/** A warehouse that is open. It runs one statement after the other. */
export type Warehouse = {
  /** Which one it is, for people: without a password. */
  readonly name: string
  run(sql: string): Promise<void>
  /** The rows of an answer, each cell as text. */
  ask(sql: string): Promise<readonly (readonly string[])[]>
  /** Runs a statement that takes rows, as lines. One that reads the files of this machine by itself has none. */
  readonly copy?: (sql: string, lines: AsyncIterable<string>) => Promise<void>
  close(): Promise<void>
}

type Asked = { lake: LoadableLake; place: Place; groups: readonly Group[]; runs: boolean; signal: AbortSignal }

/** What a load brought into a main table and the nested ones of it. */
export type Loaded = { table: string; publications: number; files: number; rows: number }

/**
 * Loads what is published, and was not yet, and makes tables where there are none. The rows of a main table and those of
 * its nested ones become visible in one transaction.
 * @throws the reason of `signal` between two statements, when it is aborted; what was marked as loaded stays.
 */
export async function runLoad(warehouse: Warehouse, asked: Asked): Promise<Loaded[]> {
  const { lake, place, groups, runs } = asked
  const { settings, begin, commit } = place.dialect
  const made = [...tableStatements(place, groups), ...(runs ? runsTableStatements(place) : [])]
  // One errand, since a warehouse may be far away, and its tables have some hundred comments.
  await warehouse.run([...settings, begin, ...made, commit].join(';\n'))
  const published = await lake.lake.readFiles()
  const loaded: Loaded[] = []
  for (const group of groups) {
    const done = await loadsOf(warehouse, place, group)
    const files = filesOf(group, published).filter((file) => !done.has(publicationOf(file)))
    if (files.length === 0) continue
    await inFolder((folder) => loadGroup(warehouse, { ...asked, group, files, folder }))
    loaded.push(sumOf(group, files))
  }
  if (runs) await inFolder((folder) => loadRuns(warehouse, { ...asked, folder }))
  return loaded
}

function publicationOf({ runId, publishedAt }: Pick<PublishedFile, 'runId' | 'publishedAt'>): string {
  return `${publishedAt} ${runId}`
}

/** The publications that a group has, by the table of loads: what comes late into a list is not passed over. */
async function loadsOf(warehouse: Warehouse, place: Place, { main }: Group): Promise<ReadonlySet<string>> {
  const rows = await warehouse.ask(
    `select run_id, published_at from ${loadsName(place)} where table_name = ${place.dialect.text(main.name)}`,
  )
  return new Set(rows.map(([runId = '', publishedAt = '']) => publicationOf({ runId, publishedAt })))
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-sync-warehouse-'))
  try {
    await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Part = Asked & { group: Group; files: readonly PublishedFile[]; folder: string }

async function loadGroup(warehouse: Warehouse, { lake, place, group, files, folder, signal }: Part): Promise<void> {
  const { objects } = lake
  const local = warehouse.copy ? [] : await download(files, { objects, folder, signal })
  const paths = new Map(local.map(({ key, path }) => [key, path]))
  const addressed = files.map((file) => ({ ...file, address: paths.get(file.key) ?? file.key }))
  const marks = markStatements(place, [group], addressed).map((sql) => ({ sql }))
  const bytesOf = async (file: PublishedFile) => intact(file, await objects.get(file.key))
  await runAll(warehouse, [...loadStatements(place, group, addressed), ...marks], { bytesOf, signal })
}

/** A file is a month of runs: those that may have changed since the newest run that is there come in whole. */
async function loadRuns(warehouse: Warehouse, { lake, place, folder, signal }: Asked & { folder: string }) {
  const [[seconds = ''] = []] = await warehouse.ask(newestRunQuestion(place))
  const listed = await runsFiles(lake, seconds === '' ? '' : new Date(Number(seconds) * 1000).toISOString())
  const keys = listed.map(({ key }) => key)
  const files = warehouse.copy
    ? listed
    : (await downloadRuns(keys, { ...lake, folder })).map((address) => ({ key: address, address }))
  const bytesOf = ({ key }: { key: string }) => lake.objects.get(key)
  await runAll(warehouse, runsStatements(place, files), { bytesOf, signal })
}

type Running<F> = { bytesOf: (file: F) => Promise<Uint8Array | null>; signal: AbortSignal }

async function runAll<F extends FileAt>(
  warehouse: Warehouse,
  statements: readonly Statement<F>[],
  { bytesOf, signal }: Running<F>,
): Promise<void> {
  for (const { sql, rows } of statements) {
    // Rows that were cut off by an interruption are in a stage alone, and go no further.
    signal.throwIfAborted()
    if (rows && warehouse.copy) await warehouse.copy(sql, rowLines({ ...rows, signal }, bytesOf))
    else await warehouse.run(sql)
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
