import { describe, expect, it } from 'vitest'
import { deadlineAfter } from '../../lib/core/deadline.ts'
import { RetryableError } from '../../lib/core/errors.ts'
import { createPatience } from '../../lib/core/patience.ts'
import { finishRun } from '../../lib/publish/finish-run.ts'
import type { Announcer } from '../../lib/publish/ports.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import type { StreamStatus } from '../../lib/sync/checkpoint.ts'
import type { StreamResult } from '../../lib/sync/context.ts'
import { driveStream } from '../../lib/sync/drive-stream.ts'
import { createMemoryRuns } from '../support/memory/publications.ts'
import { listOf, users } from '../sync/support/source.ts'
import { createWorld } from '../sync/support/world.ts'

const run = { runId: 'run', scheduledAt: Date.UTC(2026, 4, 6) }
function result(status: StreamStatus, more: Partial<StreamResult> = {}): StreamResult {
  return {
    stream: 'organization_users',
    runId: 'run',
    status,
    reason: null,
    retryAfterMs: null,
    counts: null,
    ...more,
  }
}
async function drive(...results: (StreamResult | Error)[]) {
  const waits: number[] = []
  let attempts = 0
  const outcome = await driveStream(organizationUsers, run, {
    attempt: async () => {
      const next = results[attempts++] as StreamResult | Error
      if (next instanceof Error) throw next
      return next
    },
    patience: createPatience(60_000),
    wait: async (ms) => void waits.push(ms),
  })
  return { status: outcome.status, reason: outcome.reason, attempts, waits }
}

describe('driving a stream', () => {
  it('calls again as long as it is paused', async () => {
    expect(await drive(result('paused'), result('paused'), result('complete'))).toMatchObject({
      status: 'complete',
      attempts: 3,
      waits: [],
    })
  })

  it('waits as long as the platform says', async () => {
    const limited = result('rate_limited', { retryAfterMs: 42_000 })
    expect(await drive(limited, result('complete'))).toMatchObject({ status: 'complete', waits: [42_000] })
  })

  it('WAIT-01 leaves a wait to a later run that is beyond its patience, also when several add up', async () => {
    const limited = (retryAfterMs: number) => result('rate_limited', { retryAfterMs })
    expect(await drive(limited(61_000))).toMatchObject({ status: 'rate_limited', attempts: 1, waits: [] })
    const often = await drive(limited(25_000), limited(0), limited(25_000), limited(25_000))
    expect(often).toMatchObject({ status: 'rate_limited', attempts: 4, waits: [25_000, 1_000, 25_000] })
  })

  it.each(['complete', 'suspect', 'skipped', 'failed', 'running'] as const)('is done when it is %s', async (status) => {
    expect(await drive(result(status))).toMatchObject({ status, attempts: 1 })
  })

  it.each([
    ['that is expected', new RetryableError('storage is out', { code: 'storage_unavailable' })],
    ['that is a bug', new TypeError('storage is out')],
  ])('makes an error %s the failure of this stream alone', async (_what, error) => {
    expect(await drive(result('paused'), error)).toMatchObject({
      status: 'failed',
      reason: 'storage is out',
      attempts: 2,
    })
  })
})

const untold = { runsTable: { note: async () => {} }, rules: {} }
const silent: Announcer = { announce: async () => {} }

describe('finishing a run', () => {
  const streams = [organizationUsers, sessions]
  const finish = async (statuses: StreamStatus[]) => {
    const world = createWorld()
    const runs = createMemoryRuns()
    const results = statuses.map((status) => result(status))
    return finishRun(run, { streams, results }, { ...world.publishDeps(), runs, ...untold, announcer: silent })
  }

  it.each<[StreamStatus[], string]>([
    [['complete', 'complete'], 'complete'],
    [['complete', 'failed'], 'partial'],
    [['complete', 'suspect'], 'partial'],
    [['complete', 'skipped'], 'partial'],
    [['failed', 'failed'], 'failed'],
    [['failed', 'running'], 'partial'],
  ])('of %j is %s (PROV-06)', async (statuses, status) => {
    expect((await finish(statuses)).record).toMatchObject({ status, runId: 'run', streams: { length: 2 } })
  })

  it('publishes what completed although another stream failed', async () => {
    const world = createWorld()
    const runs = createMemoryRuns()
    const done = await world.sync(organizationUsers, listOf(users(3)), { runId: 'run' })
    const results = [done, result('failed', { stream: 'sessions', reason: 'down' })]
    const { record, manifest } = await finishRun(
      run,
      { streams, results },
      { ...world.publishDeps(), runs, ...untold, announcer: silent },
    )
    expect(manifest.scans.map(({ stream }) => stream)).toEqual(['organization_users'])
    expect(await runs.latest()).toEqual(record)
    expect(record.streams[1]).toMatchObject({ stream: 'sessions', status: 'failed', reason: 'down' })
    expect(world.current(organizationUsers).size).toBe(3)
  })

  it('waits for another publisher, and says so when that takes too long', async () => {
    const world = createWorld()
    await world.publications.acquire({ owner: 'other', now: world.clock.now(), expiresAt: world.clock.now() + 10_000 })
    const sleeps: number[] = []
    const sleep = async (ms: number, signal?: AbortSignal) => {
      signal?.throwIfAborted()
      sleeps.push(ms)
    }
    const clock = { now: world.clock.now, sleep }
    const deps = { ...world.publishDeps({ clock }), runs: createMemoryRuns(), ...untold, announcer: silent }
    await expect(finishRun(run, { streams, results: [] }, deps)).rejects.toThrow('(other) is publishing')
    expect(sleeps.length).toBeGreaterThan(5)
    world.clock.advance(10_001)
    await expect(finishRun(run, { streams, results: [] }, deps)).resolves.toMatchObject({ manifest: { scans: [] } })
  })

  it('waits for another publisher as long as its own time allows, where that is limited', async () => {
    const world = createWorld()
    const { clock } = world
    const holds = clock.now() + 400_000
    await world.publications.acquire({ owner: 'other', now: clock.now(), expiresAt: holds })
    // The watch over a lease sleeps for long, and nobody waits for it.
    const sleep = async (ms: number, signal?: AbortSignal) => (ms > 2_000 ? clock.sleep(ms, signal) : clock.advance(ms))
    const waiting = { now: clock.now, sleep }
    const finishIn = (ms: number) => {
      const deps = world.publishDeps({ clock: waiting, deadline: deadlineAfter(clock, ms) })
      return finishRun(
        run,
        { streams, results: [] },
        { ...deps, runs: createMemoryRuns(), ...untold, announcer: silent },
      )
    }
    await expect(finishIn(300_000)).rejects.toThrow('(other) is publishing')
    expect(clock.now()).toBeLessThan(holds)
    await expect(finishIn(600_000)).resolves.toMatchObject({ manifest: { scans: [] }, goOn: false })
  })

  it('is announced once, and again only when another worker had a stream the time before', async () => {
    const world = createWorld()
    const announced: string[] = []
    const announcer: Announcer = { announce: async ({ status }) => void announced.push(status) }
    const deps = { ...world.publishDeps(), runs: createMemoryRuns(), ...untold, announcer }
    const finishAs = (...statuses: StreamStatus[]) =>
      finishRun(run, { streams, results: statuses.map((status) => result(status)) }, deps)
    await finishAs('complete', 'running')
    await finishAs('complete', 'complete')
    await finishAs('complete', 'complete')
    expect(announced).toEqual(['partial', 'complete'])
  })

  it('tells how fresh the stream is after it, and what the configuration said of its fields', async () => {
    const world = createWorld()
    const done = await world.sync(organizationUsers, listOf(users(3)), { runId: 'run' })
    const noted: unknown[] = []
    const runsTable = { note: async (record: unknown) => void noted.push(record) }
    const told = { runs: createMemoryRuns(), runsTable, rules: { organization_users: { email: 'hash' } } }
    const deps = { ...world.publishDeps(), ...told, announcer: silent }
    const { record } = await finishRun(
      run,
      { streams, results: [done, result('failed', { stream: 'sessions' })] },
      deps,
    )
    const standing = { completeAt: expect.any(Number), scanEndedAt: expect.any(Number), records: 3 }
    expect(record.streams[0]).toMatchObject({ standing, rules: { email: 'hash' } })
    expect(record.streams[1]?.standing).toEqual({ completeAt: null, scanEndedAt: null, records: null })
    expect(noted).toEqual([record])
  })

  it('does not fail with the table of runs: it says so, and the record stands', async () => {
    const world = createWorld()
    const runs = createMemoryRuns()
    const runsTable = { note: () => Promise.reject(new Error('the bucket is full')) }
    const deps = { ...world.publishDeps(), runs, ...untold, runsTable, announcer: silent }
    const { record } = await finishRun(run, { streams, results: [result('complete')] }, deps)
    expect(await runs.latest()).toEqual(record)
    expect(world.warnings).toEqual([expect.stringContaining('The table of runs was not written')])
  })

  it('is on record although nobody could be told, and the next try tells it once', async () => {
    const world = createWorld()
    const runs = createMemoryRuns()
    const announced: string[] = []
    const deps = { ...world.publishDeps(), runs, ...untold }
    const results = [result('complete')]
    const mute: Announcer = { announce: () => Promise.reject(new Error('the bus is down')) }
    const loud: Announcer = { announce: async ({ runId }) => void announced.push(runId) }
    const finishBy = (announcer: Announcer) => finishRun(run, { streams, results }, { ...deps, announcer })
    await expect(finishBy(mute)).rejects.toThrow('the bus is down')
    expect(await runs.latest()).toMatchObject({ status: 'complete', announced: false })
    await finishBy(loud)
    await finishBy(loud)
    expect(announced).toEqual([run.runId])
    expect(await runs.latest()).not.toHaveProperty('announced')
  })
})
