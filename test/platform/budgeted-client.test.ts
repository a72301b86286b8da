import { describe, expect, it } from 'vitest'
import type { Clock } from '../../lib/core/clock.ts'
import { RetryableError } from '../../lib/core/errors.ts'
import { LaterFormError } from '../../lib/core/form.ts'
import { type Log, silentLog } from '../../lib/core/log.ts'
import { createPatience } from '../../lib/core/patience.ts'
import { createRateBudget } from '../../lib/platform/rate-budget.ts'
import { createOwnRates, type SharedRates } from '../../lib/platform/rates.ts'
import { clientOf, failure, fakeClock, sessionsList } from './fixture.ts'
import { json, stubServer } from './stub-server.ts'

type Sleeping = Clock & { sleeps: number[] }

/** Clients of two workers of one key, each with a clock of its own that shows the same. */
async function twoWorkers({ rate, shared = createOwnRates() }: { rate?: number; shared?: SharedRates } = {}) {
  const { url, seen, ...server } = await stubServer(json({}))
  const worker = (clock: Sleeping, log: Log = silentLog) => {
    const budget = createRateBudget({ shared, clock, log, requestsPerSecond: rate })
    return { budget, clock, client: clientOf(url, { clock, budget }) }
  }
  return { one: worker(fakeClock()), other: worker(fakeClock()), worker, seen, url, ...server }
}

function limited(retryAfter: string, status = 429) {
  return json({}, status, { 'retry-after': retryAfter })
}

async function toldTo(answer: ReturnType<typeof json>) {
  const { url } = await stubServer(answer, json({}))
  const shared = createOwnRates()
  const clock = fakeClock()
  const budget = createRateBudget({ shared, clock, log: silentLog })
  await failure(clientOf(url, { clock, budget, retry: { maxAttempts: 1 } }).get(sessionsList, {}))
  return await shared.look()
}

describe('a wait that the platform tells one request', () => {
  it.each([
    [429, '7', 7_000],
    [503, '7', 7_000],
    [429, '3600', 3_600_000],
  ])('(%d, Retry-After %s) holds for all workers', async (status, retryAfter, ms) => {
    expect((await toldTo(limited(retryAfter, status))).wait).toMatchObject({ serial: 1, ms })
  })

  it.each([
    ['a refusal of its own', limited('7', 403)],
    ['a limit that names no time', json({}, 429)],
    ['a wait of more than an hour', limited('3601')],
  ])('holds for no other when it is %s', async (_, answer) => {
    expect((await toldTo(answer)).wait).toBeNull()
  })

  it('is waited out by another worker before it asks anything, at the cost of its patience', async () => {
    const { one, other, seen } = await twoWorkers()
    await one.budget.told(7_000, '/api/v0/users')
    const patience = createPatience(60_000)
    await other.client.get(sessionsList, {}, { patience })
    expect(other.clock.sleeps).toEqual([7_000])
    expect(patience.remainingMs()).toBe(53_000)
    expect(seen).toHaveLength(1)
  })

  it('beyond the patience or the time of another worker is not begun, and says when to come back', async () => {
    const { one, other, seen } = await twoWorkers()
    await one.budget.told(50_000, '/api/v0/users')
    const refused = await failure(other.client.get(sessionsList, {}, { patience: createPatience(40_000) }))
    expect(refused).toMatchObject({ name: 'RetryableError', code: 'rate_limited', retryAfterMs: 50_000 })
    expect(refused.message).toContain(
      'GET /api/v0/sessions was not sent: the platform told a worker with the same API key',
    )
    const late = other.client.get(sessionsList, {}, { deadline: { remainingMs: () => 50_000 } })
    expect(await failure(late)).toMatchObject({ code: 'rate_limited', retryAfterMs: 50_000 })
    expect([other.clock.sleeps, seen]).toEqual([[], []])
  })

  it('ends for a caller that stops, with its reason', async () => {
    const { one, worker, seen } = await twoWorkers()
    await one.budget.told(50_000, '/api/v0/users')
    const stop = new AbortController()
    const sleep: Clock['sleep'] = async (_, signal) => {
      stop.abort(new Error('the lease is lost'))
      signal?.throwIfAborted()
    }
    const { client } = worker({ ...fakeClock(), sleep })
    expect((await failure(client.get(sessionsList, {}, { signal: stop.signal }))).message).toBe('the lease is lost')
    expect(seen).toHaveLength(0)
  })

  it('is told to others by a request that waits it out itself, once', async () => {
    const { url, seen } = await stubServer(limited('5'), json({}))
    const shared = createOwnRates()
    const clock = fakeClock()
    const budget = createRateBudget({ shared, clock, log: silentLog })
    await clientOf(url, { clock, budget }).get(sessionsList, {})
    expect(clock.sleeps).toEqual([5_000])
    expect((await shared.look()).wait?.serial).toBe(1)
    expect(seen).toHaveLength(2)
  })
})

describe('a list that is told to wait again and again', () => {
  const once = { retry: { maxAttempts: 1 } }
  const asking = async (...answers: ReturnType<typeof json>[]) => {
    const { url } = await stubServer(...answers)
    const [shared, clock] = [createOwnRates(), fakeClock()]
    /** Another process, which knows nothing but what is shared. */
    const process = () => {
      const budget = createRateBudget({ shared, clock, log: silentLog })
      return { budget, client: clientOf(url, { clock, budget, ...once }) }
    }
    const waits = async () => (await shared.look()).wait?.serial ?? 0
    return { process, clock, waits }
  }

  it('holds the others twice; from the third time on in a row it waits alone, also in another process', async () => {
    const { process, clock, waits } = await asking(limited('7'), limited('7'), limited('7'), limited('7'), json({}))
    const { client, budget } = process()
    for (const shared of [1, 2, 2]) {
      await failure(client.get(sessionsList, {}))
      expect(await waits()).toBe(shared)
      if (shared < 2) await clock.sleep(7_000)
    }
    const began = clock.now()
    await budget.admit({ what: 'GET /api/v0/users', remainingMs: () => Number.POSITIVE_INFINITY })
    expect(clock.now()).toBe(began)
    await clock.sleep(7_000)
    await failure(process().client.get(sessionsList, {}))
    expect(await waits()).toBe(2)
  })

  it('holds them each time when it had an answer between', async () => {
    const { process, clock, waits } = await asking(limited('7'), json({}), limited('7'), json({}), limited('7'))
    const { client } = process()
    for (const shared of [1, 1, 2, 2, 3]) {
      await client.get(sessionsList, {}).catch(() => clock.sleep(7_000))
      expect(await waits()).toBe(shared)
    }
  })

  it('was told once when many of its requests were told at the same time, whose sessions they are of', async () => {
    const { process, clock, waits } = await asking(...Array(9).fill(limited('7')))
    const { client } = process()
    const messagesOf = (id: number) => ({ base: 'v0', path: `/api/v0/sessions/${id}/messages` }) as const
    for (const shared of [1, 2, 2]) {
      await Promise.all([1, 2, 3].map((id) => failure(client.get(messagesOf(id), {}))))
      await clock.sleep(7_000)
      expect(await waits()).toBe(shared)
    }
  })
})

describe('a rate of requests', () => {
  it('spaces them, without using up the patience for the platform', async () => {
    const { one } = await twoWorkers({ rate: 4 })
    const patience = createPatience(0)
    for (let n = 0; n < 4; n++) await one.client.get(sessionsList, {}, { patience })
    expect(one.clock.sleeps).toEqual([250, 250, 250])
  })

  it('holds for each request of a call, repetitions and redirects included', async () => {
    const { url, seen } = await stubServer(json({}, 500), json({}, 302, { location: '/elsewhere' }), json({}))
    const clock = fakeClock()
    let admitted = 0
    const budget = { admit: async () => void admitted++, told: async () => {}, answered: () => {} }
    await clientOf(url, { clock, budget }).get(sessionsList, {})
    expect([seen.length, admitted]).toEqual([3, 3])
  })

  it('whose turn comes too late for a request ends it with the time to come back', async () => {
    const shared = createOwnRates()
    const { one, seen } = await twoWorkers({ rate: 1, shared })
    await shared.draw({ now: one.clock.now(), lengthMs: 90_000, queued: false })
    const error = await failure(one.client.get(sessionsList, {}))
    expect(error).toMatchObject({ name: 'RetryableError', code: 'rate_limited', retryAfterMs: 89_000 })
    expect(error.message).toContain('the rate that platform.requestsPerSecond sets')
    expect(seen).toHaveLength(0)
  })
})

describe('storage in trouble', () => {
  const broken: SharedRates = {
    look: () => Promise.reject(new RetryableError('no table answers', { code: 'storage_unavailable' })),
    draw: () => broken.look() as never,
    note: () => broken.look() as never,
  }
  const listening = () => {
    const warnings: unknown[] = []
    return { warnings, log: { ...silentLog, warn: (...said: unknown[]) => void warnings.push(said) } }
  }

  it.each([undefined, 5])('stops no request at rate %s, and is told once', async (rate) => {
    const { warnings, log } = listening()
    const { worker, seen } = await twoWorkers({ shared: broken, ...(rate ? { rate } : {}) })
    const { client, clock, budget } = worker(fakeClock(), log)
    const began = clock.now()
    for (let n = 0; n < 20; n++) await client.get(sessionsList, {})
    await budget.told(1_000, '/api/v0/users')
    expect(seen).toHaveLength(20)
    if (rate) expect(clock.now() - began).toBeGreaterThan(3_500)
    expect(warnings).toEqual([[expect.stringContaining('all workers share'), { reason: 'no table answers' }]])
  })

  it('ends what asks at a rate that a later version left: at its own, all workers together would be too fast', async () => {
    const later = () => Promise.reject(new LaterFormError('form 2', { code: 'configuration' }))
    const { one, seen } = await twoWorkers({ shared: { look: later, draw: later, note: later } })
    expect(await failure(one.client.get(sessionsList, {}))).toMatchObject({ code: 'configuration', message: 'form 2' })
    expect(seen).toHaveLength(0)
  })

  it('hides no bug', async () => {
    const bug = () => Promise.reject(new TypeError('answer.map is not a function'))
    const { one } = await twoWorkers({ shared: { look: bug, draw: bug, note: bug } })
    expect(await failure(one.client.get(sessionsList, {}))).toBeInstanceOf(TypeError)
  })
})
