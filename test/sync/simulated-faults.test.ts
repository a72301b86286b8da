import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../lib/core/clock.ts'
import { deadlineAfter } from '../../lib/core/deadline.ts'
import { createPatience } from '../../lib/core/patience.ts'
import type { FaultRule } from '../../lib/local/simulator/faults/rule.ts'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'

import { platformStreams } from '../../lib/streams/index.ts'

import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { readinessReports } from '../../lib/streams/readiness-reports.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import type { Stream } from '../../lib/streams/stream.ts'
import { driveStream } from '../../lib/sync/drive-stream.ts'
import { syncStream } from '../../lib/sync/sync-stream.ts'
import { redact, sourceOf } from './support/simulated.ts'
import { createWorld, type World } from './support/world.ts'

let sim: Simulator
beforeAll(async () => {
  const rates = { removed: 0, changed: 0, added: 0 }
  sim = await startSimulator({ counts: { users: 450, reports: 250, sessions: 250 }, rates: { users: rates } })
})
afterAll(() => sim.close())
afterEach(() => sim.clearFaults())

function sync(world: World, stream: Stream = organizationUsers, more: Parameters<typeof sourceOf>[1] = {}) {
  return world.sync(stream, sourceOf(sim, more), { redact })
}
async function synced(stream: Stream = organizationUsers) {
  const world = createWorld({ settings: { flushRecords: 100 } })
  expect(await sync(world, stream)).toMatchObject({ status: 'complete' })
  return world
}
/** What a fault makes of a sync of users who are all known, and the requests it took. */
async function under(...rules: FaultRule[]) {
  const world = await synced()
  for (const rule of rules) sim.fault(rule)
  const before = sim.counts.listUsers ?? 0
  const result = await sync(world)
  return { world, result, requests: (sim.counts.listUsers ?? 0) - before }
}
const endpoint = 'listUsers' as const

describe('a list whose pagination is broken', () => {
  it.each<[string, FaultRule, number]>([
    ['repeats its token at once', { endpoint, kind: 'repeatCursor', after: 1 }, 2],
    ['goes in a circle over three pages', { endpoint, kind: 'cycleCursor', back: 2, after: 3 }, 4],
    ['never ends, with empty pages', { endpoint, kind: 'endlessCursor', empty: true, after: 1 }, 101],
    ['never ends, with the first page again', { endpoint, kind: 'endlessCursor', after: 1 }, 101],
    ['has more without nextCursor', { endpoint, kind: 'missingNextCursor' }, 1],
    ['has more and nextCursor null', { endpoint, kind: 'missingNextCursor', asNull: true }, 1],
    ['has more and an empty nextCursor', { endpoint, kind: 'emptyNextCursor' }, 1],
    ['does not say hasMore', { endpoint, kind: 'missingHasMore' }, 1],
  ])('that %s fails, deletes nothing, and is read by the next run (PAG-01, PAG-03)', async (_what, rule, asked) => {
    const { world, result, requests } = await under(rule)
    expect(result).toMatchObject({ status: 'failed', counts: { deleted: 0 } })
    // The next page is asked for while one is looked at: it may be on its way.
    expect([asked, asked + 1]).toContain(requests)
    expect(world.live(organizationUsers)).toHaveLength(450)
    sim.clearFaults()
    expect(await sync(world)).toMatchObject({ status: 'complete', counts: { unchanged: 450, deleted: 0, inserted: 0 } })
  })

  it('ends at hasMore false, whatever nextCursor says (PAG-03)', async () => {
    const world = createWorld()
    sim.fault({ endpoint, kind: 'hasMoreFalseWithCursor', page: 5 })
    const before = sim.counts.listUsers ?? 0
    expect(await sync(world)).toMatchObject({ status: 'complete', counts: { inserted: 450 } })
    expect((sim.counts.listUsers ?? 0) - before).toBe(5)
  })

  it.each([400, 404] as const)(
    'with a token that expired (%i) is read again from the start (PAG-05)',
    async (status) => {
      const { world, result } = await under({ endpoint, kind: 'expireCursor', status, page: 3 })
      expect(result).toMatchObject({ status: 'complete', counts: { unchanged: 450, duplicate: 200, deleted: 0 } })
      expect(world.live(organizationUsers)).toHaveLength(450)
    },
  )

  it('with tokens that always expire is given up, three restarts later (PAG-05)', async () => {
    const { world, result, requests } = await under({ endpoint, kind: 'expireCursor' })
    expect(result).toMatchObject({ status: 'failed', counts: { deleted: 0 } })
    expect(requests).toBe(8)
    expect(world.live(organizationUsers)).toHaveLength(450)
  })

  it('that has empty pages in between is read whole', async () => {
    const { result } = await under({ endpoint, kind: 'emptyPageHasMore', page: [2, 3] })
    expect(result).toMatchObject({ status: 'complete', counts: { unchanged: 450, pages: 7 } })
  })

  it.each<[string, FaultRule]>([
    ['is empty', { endpoint, kind: 'emptyList' }],
    ['ends in the middle', { endpoint, kind: 'truncatedList', page: 2 }],
  ])('that %s is suspect (DEL-01)', async (_what, rule) => {
    const { world, result } = await under(rule)
    expect(result).toMatchObject({ status: 'suspect', counts: { deleted: 0 } })
    expect(world.live(organizationUsers)).toHaveLength(450)
  })
})

describe('requests', () => {
  it('are the same but for the cursor (PAG-09)', async () => {
    const from = sim.requests.length
    await synced(sessions)
    const queries = sim.requests.slice(from).map(({ query }) => new URLSearchParams(query))
    expect(queries.map((query) => query.has('cursor'))).toEqual([false, true, true])
    for (const query of queries) query.delete('cursor')
    expect(new Set(queries.map(String))).toEqual(new Set(['limit=100']))
  })

  it('of the readiness list go on after short pages until an empty one (PAG-06)', async () => {
    const from = sim.requests.length
    const world = createWorld()
    expect(await sync(world, readinessReports)).toMatchObject({ counts: { inserted: 250, pages: 4, apiCalls: 4 } })
    const queries = sim.requests.slice(from).map(({ query }) => new URLSearchParams(query))
    expect(queries.map((query) => query.get('limit'))).toEqual(Array(4).fill('100'))
    expect(new Set(queries.map((query) => query.get('startAfter'))).size).toBe(4)
  })
})

describe('an answer that is no list', () => {
  it.each<[string, FaultRule, timeoutMs?: number]>([
    ['HTML with status 200', { endpoint, kind: 'html200' }],
    ['an error with status 200', { endpoint, kind: 'json200', body: { error: 'maintenance' } }],
    ['no array', { endpoint, kind: 'json200', body: { users: null, pagination: { hasMore: false } } }],
    ['data: null', { endpoint, kind: 'json200', body: { data: null } }],
    ['an array', { endpoint, kind: 'json200', body: [] }],
    ['null', { endpoint, kind: 'json200', body: null }],
    ['status 204', { endpoint, kind: 'empty204' }],
    ['raw gzip', { endpoint, kind: 'rawGzip' }],
    ['status 500', { endpoint, kind: 'status', status: 500 }],
    ['status 401', { endpoint, kind: 'status', status: 401 }],
    ['a body that stalls', { endpoint, kind: 'stall' }, 100],
    ['a body that is cut off', { endpoint, kind: 'cut' }],
    ['a redirect to elsewhere', { endpoint, kind: 'redirect', location: 'https://elsewhere.example/' }],
  ])('(%s) is never "no data" (HTTP-07)', async (_what, rule, timeoutMs = 60_000) => {
    const world = await synced()
    sim.fault(rule)
    const result = await sync(world, organizationUsers, { timeoutMs })
    expect(result).toMatchObject({ status: 'failed', counts: { received: 0, deleted: 0 } })
    expect(result.reason).not.toContain('sim-key')
    expect(world.live(organizationUsers)).toHaveLength(450)
  })

  it('is asked for again when that may help, and every request is counted', async () => {
    const { result } = await under(
      { endpoint, kind: 'cut', page: 2 },
      { endpoint, kind: 'reset', page: 4 },
      { endpoint, kind: 'status', status: 503, page: 6 },
    )
    expect(result).toMatchObject({ status: 'complete', counts: { unchanged: 450, pages: 5, apiCalls: 8 } })
  })

  it('is the word about a wrong key: what to check, and nothing deleted', async () => {
    const world = await synced()
    const result = await sync(world, organizationUsers, { key: 'wrong-key' })
    expect(result).toMatchObject({ status: 'failed', reason: expect.stringContaining('/settings/api-keys') })
    expect(result.reason).not.toContain('wrong-key')
    expect(world.live(organizationUsers)).toHaveLength(450)
  })
})

describe('trouble with one stream', () => {
  it('stops no other: one is forbidden, one fails, the rest completes', async () => {
    sim.fault({ endpoint: 'listUsers', kind: 'status', status: 403 })
    sim.fault({ endpoint: 'listComputers', kind: 'status', status: 500 })
    const world = createWorld()
    const run = world.newRun()
    const deps = world.deps(sourceOf(sim), { redact })
    const results = await Promise.all(
      platformStreams.map((stream) =>
        driveStream(stream, run, {
          attempt: () => syncStream(stream, run, deps),
          patience: createPatience(60_000),
          wait: systemClock.sleep,
        }),
      ),
    )
    expect(Object.fromEntries(results.map(({ stream, status }) => [stream, status]))).toEqual({
      ...Object.fromEntries(platformStreams.map(({ name }) => [name, 'complete'])),
      organization_users: 'skipped',
      computers: 'failed',
    })
  })

  it('that asks to wait longer than there is time ends without sleeping (HTTP-03)', async () => {
    const world = createWorld({ settings: { flushRecords: 100 } })
    sim.fault({ endpoint, kind: 'status', status: 429, headers: { 'retry-after': '600' }, after: 2 })
    const deadline = deadlineAfter(systemClock, 120_000)
    // Had it slept, this test would end by its own limit.
    const result = await world.sync(organizationUsers, sourceOf(sim, { deadline }), { deadline })
    expect(result).toMatchObject({
      status: 'rate_limited',
      retryAfterMs: 600_000,
      counts: { received: 200, apiCalls: 3 },
    })
    expect(await world.checkpoints.read('organization_users')).toMatchObject({ scan: { counts: { inserted: 200 } } })
  })
})
