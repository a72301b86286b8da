import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { askLake } from '../lib/cli/lake-database.ts'
import { createMerger, type MergeLimits } from '../lib/stores/merge-parts.ts'
import { currentQuery } from '../lib/streams/current.ts'
import { sessions } from '../lib/streams/sessions.ts'
import type { Figure } from './figures.ts'
import type { Installation } from './lake-nights.ts'

/** How long a reader took in the installation of many nights, and how many times as long as with one file of the same rows. */
type Reading = { what: string; milliseconds: number; ratio: number; aim: Figure['aim'] }

type Lakes = { lived: Installation; fresh: Installation; dir: string }

const [table] = sessions.tables
const question = 'select status, count(*), sum(message_count) from sessions_current group by all'
const turns = 15
const atMost = 1.3
const unbound: MergeLimits = { rows: 1e9, bytes: 1e12, partsAtOnce: 1_000, readAheadBytes: 64 * 2 ** 20 }

/**
 * Those who ask for the sessions as they are now: `query`, an engine over the files of the Iceberg table, and the view of
 * docs/streams.md over the change files. `fresh` has the same sessions in one file.
 */
export async function lakeReaders({ lived, fresh, dir }: Lakes) {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  const duckdb = await instance.connect()
  const folder = join(dir, 'read')
  await mkdir(folder, { recursive: true })
  const changes = await changesOf(lived)
  const lease = { signal: new AbortController().signal, stillMine: async () => {} }
  const { files: merged } = await createMerger(lived.objects, unbound).mergeParts(table, changes, lease)
  const mergedKeys = merged.map(({ key }) => key)
  const over = async (name: string, from: Installation, keys: readonly string[]) => {
    const paths: string[] = []
    for (const [at, key] of keys.entries()) {
      paths.push(join(folder, `${name}-${at}.parquet`))
      await writeFile(paths.at(-1) ?? '', (await from.objects.get(key)) ?? '')
    }
    return paths
  }
  const ask = async (view: string) => {
    await duckdb.run(`create or replace view sessions_current as ${view}`)
    await duckdb.runAndReadAll(question)
  }
  const current = {
    many: await over('lived', lived, await currentKeys(lived)),
    one: await over('fresh', fresh, await currentKeys(fresh)),
  }
  const log = {
    many: await over(
      'changes',
      lived,
      changes.map(({ key }) => key),
    ),
    one: await over('merged', lived, mergedKeys),
  }
  await lived.objects.remove(mergedKeys)
  const ofLog = (paths: readonly string[]) => async () => {
    await duckdb.run(`create or replace view sessions as ${filesAsRows(paths)}`)
    await ask(currentQuery(sessions, table))
  }
  return {
    measure: async (): Promise<Reading[]> => [
      await compared(
        'query',
        () => askLake(lived, question),
        () => askLake(fresh, question),
      ),
      await compared(
        `files of the Iceberg table, ${current.many.length}`,
        () => ask(filesAsRows(current.many)),
        () => ask(filesAsRows(current.one)),
      ),
      {
        ...(await compared(`the view over change files, ${log.many.length}`, ofLog(log.many), ofLog(log.one))),
        // Each file costs by itself: nobody is told to ask these (docs/decisions/lake-files.md).
        aim: null,
      },
    ],
    close: async () => {
      duckdb.closeSync()
      instance.closeSync()
    },
  }
}

function filesAsRows(paths: readonly string[]): string {
  return `from read_parquet([${paths.map((path) => `'${path}'`).join()}], union_by_name = true)`
}

async function changesOf({ lake }: Installation) {
  return (await lake.readFiles()).filter((file) => file.kind === 'changes' && file.table === table.name)
}

async function currentKeys(from: Installation): Promise<string[]> {
  const files = await from.currentFiles({ stream: sessions, table, published: await from.lake.readFiles() })
  if (files === null) throw new Error('the current table does not have what is published')
  return files.map(({ key }) => key)
}

/** By turns, so that what else the machine does slows both, and the quickest of each. The first turn is not counted. */
async function compared(what: string, many: () => Promise<unknown>, one: () => Promise<unknown>): Promise<Reading> {
  const times: [number, number][] = []
  for (let turn = 0; turn <= turns; turn++) times.push([await timeOf(many), await timeOf(one)])
  const counted = times.slice(1)
  const milliseconds = Math.min(...counted.map(([ofMany]) => ofMany))
  const ratio = milliseconds / Math.min(...counted.map(([, ofOne]) => ofOne))
  return { what, milliseconds, ratio, aim: { most: atMost } }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
