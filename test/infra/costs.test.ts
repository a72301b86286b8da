import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { composeRun } from '../../lib/compose/run.ts'
import { noDeadline } from '../../lib/core/deadline.ts'
import { silentLog } from '../../lib/core/log.ts'
import { noMetrics } from '../../lib/core/metrics.ts'
import { type Emulators, startEmulators } from '../../lib/local/emulators/emulators.ts'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { freshMs } from '../../lib/platform/told-waits.ts'
import { finishRun } from '../../lib/publish/finish-run.ts'
import { type Calls, callsOf, listPrices, storageUsd } from '../../lib/report/night/cost.ts'
import { ratePartition } from '../../lib/stores/rates.ts'
import { createStorageClients, type StorageClients } from '../../lib/stores/storage.ts'
import { streamNamed } from '../../lib/streams/index.ts'
import { syncStream } from '../../lib/sync/sync-stream.ts'

let emulators: Emulators
let platform: Simulator
let clients: StorageClients
let calls: Calls
/** Looks for what other workers were told: one at first, and another one every two seconds. */
let looks = 0
const dir = mkdtempSync(join(tmpdir(), 'platform-sync-costs-'))
const flush = 500
const stream = streamNamed('organization_users')

beforeAll(async () => {
  emulators = await startEmulators({ dir })
  platform = await startSimulator({ counts: { users: 1_050, sessions: 1, reports: 1, revisions: 1, computers: 1 } })
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  clients = createStorageClients({ region: 'us-east-1', endpointUrl: emulators.endpointUrl, credentials })
  for (const client of [clients.dynamodb, clients.s3]) listenTo(client.config.requestHandler as unknown as Handler)
})

afterAll(async () => {
  clients?.destroy()
  await platform?.close()
  await emulators?.close()
  rmSync(dir, { recursive: true, force: true })
})

type Request = { method: string; headers: Record<string, string>; query?: Record<string, unknown>; body?: unknown }
type Handler = { handle(request: Request, options: unknown): Promise<unknown> }

/** Counts what leaves through a client's connections, whoever wrote the request. */
function listenTo(handler: Handler) {
  const handle = handler.handle.bind(handler)
  handler.handle = (request, options) => {
    count(request)
    return handle(request, options)
  }
}

function count({ method, headers, query = {}, body }: Request) {
  const action = headers['x-amz-target']?.split('.')[1]
  if (action === undefined) {
    if (method === 'PUT' || 'list-type' in query) calls.puts += 1
    else if (method === 'GET') calls.gets += 1
    return
  }
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body as Uint8Array)
  if (action === 'BatchWriteItem') calls.writes += text.split('"PutRequest"').length - 1
  else if (action === 'BatchGetItem') calls.reads += text.split('"pk":{').length - 1
  else if (action === 'GetItem' && text.includes(`"${ratePartition}"`)) looks += 1
  else if (action === 'GetItem' || action === 'Query') calls.stateReads += 1
  else if (text.includes('platform-sync-records')) calls.writes += 1
  else calls.stateWrites += 1
}

async function night(runId: string) {
  const env = {
    ...emulators.environment,
    // The stack of a sync alone has no table of limits, and none of hook events.
    LIMITS_TABLE: '',
    HOOKS_TABLE: '',
    PLATFORM_API_KEY: 'sim-key',
    REDACTION_KEY: 'a key that is long enough for it',
  }
  const addresses = { PLATFORM_APP_URL: platform.appUrl, PLATFORM_BASE_URL: platform.baseUrl }
  const runtime = { log: silentLog, metrics: noMetrics, clients, settings: { flushRecords: flush } }
  const app = composeRun({ ...env, ...addresses }, runtime)
  calls = { puts: 0, gets: 0, stateWrites: 0, stateReads: 0, reads: 0, writes: 0 }
  const run = { runId, scheduledAt: 0 }
  const [looksBefore, began] = [looks, Date.now()]
  const result = await syncStream(stream, run, await app.syncDeps(noDeadline))
  expect(looks - looksBefore).toBeGreaterThanOrEqual(1)
  expect(looks - looksBefore).toBeLessThanOrEqual(1 + (Date.now() - began) / freshMs)
  await finishRun(run, { streams: [stream], results: [result] }, app.finishDeps())
  const { received, inserted, updated, deleted } = result.counts!
  return { records: received, changed: inserted + updated, deleted, tables: stream.tables.length, flush }
}

describe('what a night asks of AWS', () => {
  it('is written in docs/operations.md: the first one, one without changes, and one with some', async () => {
    const first = await night('first')
    expect(first).toMatchObject({ records: 1_050, changed: 1_050 })
    // Nothing is known yet: no index to read, no record that may exist. Whether there is older data is looked up, for the
    // list of files and for each table that is made.
    // The first run of a month looks for runs of the months before, whose rows may be missing.
    const { puts: most, gets: fewest, stateReads, ...others } = callsOf(first)
    expect(calls).toMatchObject({ ...others, reads: 0 })
    expect(calls.stateReads).toBe(stateReads + 1)
    expect(calls.puts).toBeLessThanOrEqual(most + 2)
    expect(calls.gets).toBeLessThanOrEqual(fewest)

    const unchanged = await night('unchanged')
    expect(unchanged).toMatchObject({ changed: 0, deleted: 0 })
    // What is known by its bytes is flushed a tenth as often.
    const ofUnchanged = callsOf({ ...unchanged, flush: 10 * flush })
    // The last few need no flush, unless they were set aside or an observer is to see them.
    expect(calls).toEqual({
      ...ofUnchanged,
      puts: ofUnchanged.puts - 1,
      stateWrites: ofUnchanged.stateWrites - 1,
    })

    platform.advance()
    const changed = await night('changed')
    expect(changed.changed).toBeGreaterThan(20)
    const { puts, gets, stateWrites, ...exact } = callsOf(changed)
    expect(calls).toMatchObject(exact)
    expect(calls.puts).toBeLessThanOrEqual(puts)
    expect(calls.gets).toBeLessThanOrEqual(gets)
    expect(calls.stateWrites).toBeLessThanOrEqual(stateWrites)
  })

  it('costs what the table there says', () => {
    const manual = readFileSync('docs/operations.md', 'utf8')
    for (const records of [10_000, 1_000_000, 10_000_000]) expect(manual).toContain(rowOf(records))
  })
})

/** 1 % changed, 2 KB an item, 200 ms a page of 100. */
function rowOf(records: number): string {
  const night = callsOf({ records, changed: records / 100, deleted: 0, tables: 1, flush: 5_000 })
  const seconds = (records / 100) * 0.2
  const { s3, dynamodb: ofCalls } = storageUsd(night)
  const dynamodb = ofCalls + ((seconds * 1000) / freshMs) * listPrices.readUnit
  const lambda = seconds * 1.77 * listPrices.gigabyteSecond
  const first = 2 * records * listPrices.writeUnit
  const cells = [s3, dynamodb, lambda, s3 + dynamodb + lambda, first].map((value) => value.toFixed(4))
  return `| ${[records.toLocaleString('en'), ...cells].join(' | ')} |`
}
