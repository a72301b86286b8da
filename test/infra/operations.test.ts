import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { composeRun } from '../../lib/compose/run.ts'
import { noDeadline } from '../../lib/core/deadline.ts'
import { silentLog } from '../../lib/core/log.ts'
import { noMetrics } from '../../lib/core/metrics.ts'
import { type Emulators, startEmulators } from '../../lib/local/emulators/emulators.ts'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { finishRun } from '../../lib/publish/finish-run.ts'
import { streamNamed } from '../../lib/streams/index.ts'
import { syncStream } from '../../lib/sync/sync-stream.ts'

const dir = mkdtempSync(join(tmpdir(), 'platform-sync-operations-'))
const lake = join(dir, 'lake')
const manual = readFileSync('docs/operations.md', 'utf8')
let emulators: Emulators
let platform: Simulator
let connection: DuckDBConnection

/** The statement of the manual under a heading comment, over a copy of the lake in a folder. */
function statement(title: string): string {
  const block = manual.match(new RegExp(`\`\`\`sql\n-- DuckDB: ${title}\n(.*?)\`\`\``, 's'))?.[1]
  if (!block) throw new Error(`docs/operations.md has no statement "-- DuckDB: ${title}"`)
  return block.replaceAll('s3://BUCKET', lake)
}

beforeAll(async () => {
  emulators = await startEmulators({ dir: join(dir, 'emulators') })
  platform = await startSimulator({ counts: { sessions: 120, users: 1, reports: 1, revisions: 1, computers: 1 } })
  const addresses = { PLATFORM_APP_URL: platform.appUrl, PLATFORM_BASE_URL: platform.baseUrl }
  const keys = { PLATFORM_API_KEY: 'sim-key', REDACTION_KEY: 'a key that is long enough for it' }
  const app = composeRun(
    { ...emulators.environment, ...addresses, ...keys },
    { log: silentLog, metrics: noMetrics, credentials: emulators.credentials },
  )
  const stream = streamNamed('sessions')
  for (const runId of ['20261128T020000Z-nightly', '20261129T020000Z-nightly']) {
    const run = { runId, scheduledAt: 0 }
    const result = await syncStream(stream, run, await app.syncDeps(noDeadline))
    await finishRun(run, { streams: [stream], results: [result] }, app.finishDeps())
    platform.advance()
  }
  for (const key of await app.objects.list('')) {
    mkdirSync(dirname(join(lake, key)), { recursive: true })
    writeFileSync(join(lake, key), (await app.objects.get(key)) ?? '')
  }
  // What a dead attempt leaves: a file that no manifest lists.
  writeFileSync(join(lake, 'changes/sessions/00009-9.parquet'), 'no Parquet at all')
  app.close()
  connection = await (await DuckDBInstance.create(':memory:')).connect()
})

afterAll(async () => {
  connection?.closeSync()
  await platform?.close()
  await emulators?.close()
  rmSync(dir, { recursive: true, force: true })
})

async function one(sql: string) {
  return (await connection.runAndReadAll(sql)).getRowsJson()[0]
}

describe('the statements of the manual', () => {
  it('read with DuckDB what is published and no other file', async () => {
    for (const sql of statement('the change log of a table').split(';\n')) if (sql.trim()) await connection.run(sql)
    await connection.run(statement('of these, the newest version of each record'))
    const [rows, versions] = (await one('select count(*), count(distinct _run_id) from sessions'))!
    const [current, keys] = (await one('select count(*), count(distinct session_id) from sessions_current'))!
    expect(Number(versions)).toBe(2)
    expect(Number(rows)).toBeGreaterThan(120)
    expect(current).toBe(keys)
    expect(Number(current)).toBeGreaterThan(100)
  })
})
