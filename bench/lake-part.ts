import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { sha256 } from '../lib/core/hash.ts'
import { createGenerators } from '../lib/local/simulator/generators.ts'
import { settingsOf } from '../lib/local/simulator/options.ts'
import { partKey, schemaVersion } from '../lib/stores/lake-paths.ts'
import { createMerger } from '../lib/stores/merge-parts.ts'
import type { ObjectStore } from '../lib/stores/objects.ts'
import { encodeParquet } from '../lib/stores/parquet.ts'
import { currentQuery } from '../lib/streams/current.ts'
import { sessions } from '../lib/streams/sessions.ts'
import { type Cell, columnsOf } from '../lib/streams/table.ts'
import type { PartFile } from '../lib/sync/checkpoint.ts'
import { bareStore } from './bare-store.ts'
import { type Figure, median } from './figures.ts'

const part = 'i'
const table = sessions.tables[0]
const shape = { records: 20_000, changed: 1_800, nights: 30, partRows: 500 }
const dayMs = 86_400_000
const start = Date.UTC(2026, 0, 1, 2)
const never = new AbortController().signal

/** (i) What a night leaves in the lake, and what many nights cost a reader against one file of the same rows. */
export async function lakeFiles(): Promise<Figure[]> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-lake-'))
  const duckdb = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
  try {
    const objects = bareStore()
    const everything = await nights(objects)
    const [last] = everything.slice(-1) as [Night]
    const many = await saved(
      everything.flatMap(({ merged }) => merged),
      { objects, dir },
    )
    const whole = await createMerger(objects, unbound).mergeParts(
      table,
      everything.flatMap(({ merged }) => merged),
      never,
    )
    const one = await saved([whole.file], { objects, dir })
    const ratio = (await secondsOf(duckdb, many)) / (await secondsOf(duckdb, one))
    const night = `a night with ${shape.changed} changes of ${shape.records}`
    return [
      { part, measure: `files of ${night}`, value: last.merged.length, unit: 'files', aim: { most: 1 } },
      {
        part,
        measure: `their bytes, against those of its ${last.parts.length} parts`,
        value: bytesOf(last.merged) / bytesOf(last.parts),
        unit: 'ratio',
        aim: { most: 1 },
      },
      {
        part,
        measure: `sessions_current over ${shape.nights} nights, against one file of the same rows`,
        value: ratio,
        unit: 'ratio',
        aim: { most: 1.3 },
      },
    ]
  } finally {
    duckdb.closeSync()
    await rm(dir, { recursive: true, force: true })
  }
}

type Night = { parts: PartFile[]; merged: PartFile[] }

const unbound = { rows: 1e9, bytes: 1e12, unpackedBytes: 1e12 }

/** A first night with all sessions, and nights in each of which some change, spread over all of them. */
async function nights(objects: ObjectStore): Promise<Night[]> {
  const rows = sessionRows()
  const found: Night[] = []
  for (let night = 0; night <= shape.nights; night++) {
    const step = Math.floor(shape.records / shape.changed)
    const changed = night === 0 ? rows : rows.filter((_, at) => at % step === night % step)
    const parts: PartFile[] = []
    for (let from = 0; from < changed.length; from += shape.partRows) {
      parts.push(await writePart(objects, changed.slice(from, from + shape.partRows), { night, n: parts.length }))
    }
    found.push({ parts, merged: [(await createMerger(objects, unbound).mergeParts(table, parts, never)).file] })
  }
  return found
}

function sessionRows(): Cell[][] {
  const settings = settingsOf({ counts: { sessions: shape.records } })
  const generator = createGenerators(settings, { times: [1_700_000_000_000] }).sessions
  return Array.from({ length: shape.records }, (_, position) => {
    const life = generator.population.at(position)
    if (life === undefined) throw new Error(`there is no session at ${position}`)
    const record = JSON.parse(JSON.stringify(generator.record(life, generator.idOf(life))))
    return [...(table.read(record).rows[0]?.cells ?? [])]
  })
}

async function writePart(
  objects: ObjectStore,
  rows: readonly Cell[][],
  { night, n }: { night: number; n: number },
): Promise<PartFile> {
  const startedAt = start + night * dayMs
  const path = { stream: 'sessions', scanId: `s${night}`, runId: `r${night}`, startedAt, part: n, fence: 1 }
  const meta = (key: Cell): Cell[] => [
    'upsert',
    path.runId,
    path.scanId,
    n,
    startedAt,
    sha256(`${key} ${night}`),
    null,
    null,
  ]
  const columns = columnsOf(table).map((): Cell[] => [])
  for (const cells of rows)
    for (const [at, cell] of [...cells, ...meta(cells[0] ?? null)].entries()) columns[at]?.push(cell)
  const bytes = encodeParquet({ table, columns, rows: rows.length })
  const key = partKey('changes', table.name, path)
  await objects.put(key, bytes)
  const size = { rows: rows.length, bytes: bytes.byteLength, sha256: sha256(bytes) }
  return { kind: 'changes', table: table.name, key, ...size, schemaVersion: schemaVersion(table) }
}

function bytesOf(files: readonly PartFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}

async function saved(files: readonly PartFile[], { objects, dir }: { objects: ObjectStore; dir: string }) {
  const paths: string[] = []
  for (const { key } of files) {
    paths.push(join(dir, key.replaceAll('/', '_')))
    await writeFile(paths.at(-1) ?? '', (await objects.get(key)) ?? '')
  }
  return paths
}

async function secondsOf(duckdb: DuckDBConnection, paths: readonly string[]): Promise<number> {
  const list = paths.map((path) => `'${path}'`).join()
  await duckdb.run(`create or replace view sessions as from read_parquet([${list}], union_by_name = true)`)
  await duckdb.run(`create or replace view sessions_current as ${currentQuery(sessions, table)}`)
  const times: number[] = []
  for (let round = 0; round < 5; round++) {
    const began = performance.now()
    await duckdb.runAndReadAll('select status, count(*), sum(message_count) from sessions_current group by all')
    times.push(performance.now() - began)
  }
  return median(times) / 1000
}
