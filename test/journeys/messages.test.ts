import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { runSync } from '../../lib/cli/run-sync.ts'
import { composeRun, type RunRoot } from '../../lib/compose/run.ts'
import { FatalError } from '../../lib/core/errors.ts'
import { silentLog } from '../../lib/core/log.ts'
import { noMetrics } from '../../lib/core/metrics.ts'
import { type Emulators, startEmulators } from '../../lib/local/emulators/emulators.ts'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { streamNamed } from '../../lib/streams/index.ts'
import { sessionMessages } from '../../lib/streams/session-messages.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { cliHere, temporaryFolder } from '../cli/cli.ts'

const folder = temporaryFolder()
let platform: Simulator
let emulators: Emulators
let variables: Record<string, string>
let root: RunRoot

beforeAll(async () => {
  platform = await startSimulator({ counts: { sessions: 12, messagesPerSession: 3 } })
  emulators = await startEmulators({ dir: folder.path })
  variables = {
    ...emulators.environment,
    PLATFORM_APP_URL: platform.appUrl,
    PLATFORM_BASE_URL: platform.baseUrl,
    PLATFORM_API_KEY: 'sim-key',
    REDACTION_KEY: 'k'.repeat(32),
    MESSAGES_ENABLED: 'true',
  }
  root = composeRun(variables, { log: silentLog, metrics: noMetrics, credentials: emulators.credentials })
})
beforeEach(() => {
  // The command line finds credentials as the SDK does.
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local')
})
afterAll(async () => {
  root?.close()
  await emulators?.close()
  await platform?.close()
  folder.remove()
})

const silent = { begin() {}, add() {}, end() {}, line() {}, stop() {} }

function sync(streams = [sessions, sessionMessages], over: Partial<RunRoot> = {}) {
  const interrupted = new AbortController().signal
  return runSync(streams, { root: { ...root, ...over }, progress: silent, interrupted })
}

async function status() {
  const { streams } = JSON.parse((await cliHere(['status', '--json'], variables)).stdout)
  return streams.find(({ stream }: { stream: string }) => stream === 'session_messages')
}

async function freshness(columns: string, stream: string): Promise<unknown[]> {
  const sql = `select ${columns} from _freshness where stream = '${stream}'`
  const [row] = JSON.parse((await cliHere(['query', '--json', sql], variables)).stdout)
  return Object.values(row)
}

/** A run in which the lists of one shard can't be asked for. */
async function without(shard: string) {
  const parent = streamNamed(shard).parent
  const syncDeps: RunRoot['syncDeps'] = async (deadline) => {
    const deps = await root.syncDeps(deadline)
    const fetchPage: typeof deps.source.fetchPage = (stream, token, request) => {
      if (request.parent === undefined || !parent?.owns?.(request.parent))
        return deps.source.fetchPage(stream, token, request)
      throw new FatalError('no key', { code: 'unauthorized', status: 401 })
    }
    return { ...deps, source: { fetchPage } }
  }
  return sync(undefined, { syncDeps })
}

function shardOf(id: string): string {
  for (let n = 0; n < 64; n++) {
    const name = `session_messages/${String(n).padStart(2, '0')}`
    if (streamNamed(name).parent?.owns?.(id)) return name
  }
  throw new Error('no shard owns it')
}

it('is refused until somebody has said that it is wanted, and then nothing of it is looked at', async () => {
  const off = { ...variables, MESSAGES_ENABLED: '' }
  const { code, stderr } = await cliHere(['sync', 'session_messages'], off)
  expect([code, stderr]).toEqual([2, expect.stringContaining('unless MESSAGES_ENABLED is true')])
  const { stdout } = await cliHere(['status', '--json'], off)
  expect(JSON.parse(stdout).streams).toContainEqual(
    expect.objectContaining({ stream: 'session_messages', status: null }),
  )
})

it('is read in shards and told in one line; a shard that fails is named and keeps none of the others back', async () => {
  const list = await fetch(`${platform.url}/api/v0/sessions?limit=1`, { headers: { authorization: 'Bearer sim-key' } })
  const [first] = ((await list.json()) as { sessions: { sessionId: string }[] }).sessions
  const shard = shardOf(first!.sessionId)
  const label = shard.slice(-2)

  const { record, results, manifest } = await without(shard)
  expect(record.status).toBe('partial')
  expect(results.map(({ stream, status }) => [stream, status])).toEqual([
    ['sessions', 'complete'],
    ['session_messages', 'failed'],
  ])
  const [, messages] = record.streams
  expect(messages?.reason).toBe(`1 of 64 shards are not complete: ${label} (failed: no key)`)
  const published = manifest.scans.filter(({ stream }) => stream.startsWith('session_messages/'))
  expect(published.length).toBeGreaterThan(5)
  expect(published.map(({ stream }) => stream)).not.toContain(shard)
  expect(new Set(published.flatMap(({ files }) => files.map(({ key }) => key))).size).toBe(
    published.flatMap(({ files }) => files).length,
  )
  expect(await status()).toMatchObject({ status: 'failed', shards: { all: 64, incomplete: [shard] } })

  const asked = platform.counts.listMessages ?? 0
  const next = await sync()
  expect(next.record.status).toBe('complete')
  expect((platform.counts.listMessages ?? 0) - asked).toBeLessThan(10)
  const total = Number(messages?.counts?.inserted) + Number(next.record.streams[1]?.counts?.inserted)
  expect(await status()).toMatchObject({ status: 'complete', records: total, shards: { incomplete: [] } })
})

it('asks for nothing in a night in which no session changed, and for what a reset forgot', async () => {
  const before = platform.counts.listMessages ?? 0
  const { record, manifest } = await sync()
  expect([record.status, platform.counts.listMessages]).toEqual(['complete', before])
  expect(manifest.scans).toEqual([])
  const { lagSeconds, records } = await status()
  expect(lagSeconds).toBeLessThan(60)
  const [ofSessions, ofMessages] = record.streams
  expect(ofMessages?.standing).toMatchObject({ records, completeAt: ofSessions?.standing?.completeAt })
  expect(await freshness('complete_at', 'session_messages')).toEqual(await freshness('complete_at', 'sessions'))
  expect(await freshness('scan_status, records', 'session_messages')).toEqual(['complete', records])

  expect((await cliHere(['reset', 'session_messages', '--index'], variables)).stdout).toContain(
    'session_messages is reset',
  )
  const { record: again } = await sync([sessionMessages])
  expect(again).toMatchObject({ status: 'complete', streams: [{ counts: { received: (await status()).records } }] })
  expect(platform.counts.listMessages).toBeGreaterThanOrEqual(Number(before) + 12)

  const { code, stderr } = await cliHere(['approve', 'session_messages'], variables)
  expect([code, stderr]).toEqual([2, expect.stringContaining('no deletes are withheld')])
})
