import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../lib/core/clock.ts'
import { RetryableError } from '../../lib/core/errors.ts'
import { createPatience } from '../../lib/core/patience.ts'
import { clientOf, failure, fakeClock, sessionsList } from './fixture.ts'
import { cut, json, stubServer, text } from './stub-server.ts'

function limited(retryAfter?: string) {
  return json({}, 429, retryAfter === undefined ? {} : { 'retry-after': retryAfter })
}
const long = { totalMs: 600_000 }

describe('waiting between requests', () => {
  it('waits until the HTTP-date of Retry-After (HTTP-01)', async () => {
    const { url, seen } = await stubServer(limited('Wed, 06 May 2026 10:02:00 GMT'), json({ ok: 1 }))
    const clock = fakeClock()
    await expect(clientOf(url, { clock, retry: long }).get(sessionsList, {})).resolves.toEqual({ ok: 1 })
    expect(clock.sleeps).toEqual([120_000])
    expect(seen).toHaveLength(2)
  })

  it('waits the whole seconds of Retry-After, also on 503', async () => {
    const { url } = await stubServer(limited('7'), json({}, 503, { 'retry-after': '3' }), json({}))
    const clock = fakeClock()
    await clientOf(url, { clock }).get(sessionsList, {})
    expect(clock.sleeps).toEqual([7000, 3000])
  })

  it.each(['1.5', '-3', 'soon', undefined, 'Wed, 06 May 2026 09:00:00 GMT', '0', '2026-05-06', 'Mon, nonsense GMT'])(
    'falls back to the normal backoff for Retry-After %j, never below the base delay (HTTP-01)',
    async (header) => {
      const { url } = await stubServer(limited(header), limited(header), json({}))
      const clock = fakeClock()
      await clientOf(url, { clock }).get(sessionsList, {})
      expect(clock.sleeps).toHaveLength(2)
      for (const slept of clock.sleeps) expect(slept).toBeGreaterThanOrEqual(500)
      for (const slept of clock.sleeps) expect(slept).toBeLessThanOrEqual(2000)
    },
  )

  it('waits a part of a bound that doubles, as chance has it, and never less than the base delay', async () => {
    const { url } = await stubServer(json({}, 500))
    const clock = fakeClock()
    await failure(clientOf(url, { clock, random: () => 0.5 }).get(sessionsList, {}))
    await failure(clientOf(url, { clock, random: () => 0.1 }).get(sessionsList, {}))
    expect(clock.sleeps).toEqual([500, 1000, 2000, 4000, 500, 500, 500, 800])
  })
})

describe('the bounds of retrying', () => {
  it('does not begin a wait that does not fit into the time left, and says how long it would be (HTTP-03)', async () => {
    const { url, seen } = await stubServer(limited('600'))
    const clock = fakeClock()
    const deadline = { remainingMs: () => 120_000 }
    const error = await failure(
      clientOf(url, { clock, retry: { totalMs: 3_600_000 } }).get(sessionsList, {}, { deadline }),
    )
    expect(error).toBeInstanceOf(RetryableError)
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterMs: 600_000, status: 429 })
    expect(clock.sleeps).toEqual([])
    expect(seen).toHaveLength(1)
  })

  it('begins no wait that is beyond the patience of the run, and spends it on those that it waits out (WAIT-01)', async () => {
    const { url, seen } = await stubServer(limited('20'), json({}), limited('20'), json({}), limited('20'))
    const clock = fakeClock()
    const client = clientOf(url, { clock })
    const patience = createPatience(50_000)
    await client.get(sessionsList, {}, { patience })
    await client.get(sessionsList, {}, { patience })
    expect(await failure(client.get(sessionsList, {}, { patience }))).toMatchObject({ retryAfterMs: 20_000 })
    expect(clock.sleeps).toEqual([20_000, 20_000])
    expect(seen).toHaveLength(5)
  })

  it('bounds a call to a minute by itself', async () => {
    const { url } = await stubServer(limited('61'))
    expect(await failure(clientOf(url).get(sessionsList, {}))).toMatchObject({ retryAfterMs: 61_000 })
  })

  it('sends exactly the configured number of requests and counts each one (HTTP-03)', async () => {
    const { url, seen } = await stubServer(json({}, 503))
    const clock = fakeClock()
    let requests = 0
    const client = clientOf(url, { clock, retry: { maxAttempts: 3 } })
    const error = await failure(client.get(sessionsList, {}, { onRequest: () => requests++ }))
    expect(error).toMatchObject({ code: 'server_error', status: 503 })
    expect([seen.length, requests]).toEqual([3, 3])
  })

  it('sends nothing when no time is left', async () => {
    const { url, seen } = await stubServer(json({}))
    const error = await failure(clientOf(url).get(sessionsList, {}, { deadline: { remainingMs: () => 0 } }))
    expect(error).toMatchObject({ code: 'timeout' })
    expect(seen).toHaveLength(0)
  })

  it('stops waiting when the caller aborts, and rejects with the reason', async () => {
    const { url, seen } = await stubServer(limited('30'))
    const abort = new AbortController()
    const clock: Clock = {
      now: () => 0,
      sleep: async (_ms, signal) => {
        abort.abort(new Error('the lease is lost'))
        signal?.throwIfAborted()
      },
    }
    const error = await failure(clientOf(url, { clock }).get(sessionsList, {}, { signal: abort.signal }))
    expect(error.message).toBe('the lease is lost')
    expect(seen).toHaveLength(1)
  })

  it('stops a request that is under way when the caller aborts', async () => {
    const { url, seen } = await stubServer(() => {})
    const abort = new AbortController()
    const call = failure(clientOf(url).get(sessionsList, {}, { signal: abort.signal }))
    await expect.poll(() => seen.length).toBe(1)
    abort.abort(new Error('enough'))
    expect((await call).message).toBe('enough')
    expect(seen).toHaveLength(1)
  })
})

describe('what is sent again', () => {
  it('repeats a GET whose idle keep-alive socket the server closed (HTTP-04)', async () => {
    const { url, server } = await stubServer(json({ n: 1 }))
    const client = clientOf(url)
    await client.get(sessionsList, {})
    server.closeAllConnections()
    await wait(20)
    await expect(client.get(sessionsList, {})).resolves.toEqual({ n: 1 })
  })

  it('repeats a GET and a PUT of limits that were reset after the request arrived (HTTP-04)', async () => {
    const { url, seen } = await stubServer(cut, json({ n: 1 }), cut, json({ updated: [], errors: [] }))
    const client = clientOf(url)
    await client.get(sessionsList, {})
    await client.setUserCreditLimits([{ email: 'ada@example.com', limit: 5 }])
    expect(seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'PUT', 'PUT'])
    expect(seen[3]?.body).toEqual(seen[2]?.body)
  })

  it.each([
    ['a reset', cut],
    ['a 503', json({}, 503)],
    ['an HTML page', text('<h1>Back soon</h1>')],
  ])('never repeats a POST after %s, since it may have done its work', async (_name, reply) => {
    const { url, seen } = await stubServer(reply)
    await failure(clientOf(url).addMessage('s1', { text: 'hello' }))
    await failure(clientOf(url).createSession({ computerId: 'c1' }))
    expect(seen).toHaveLength(2)
  })

  it('repeats a POST that was rate limited', async () => {
    const { url, seen } = await stubServer(limited('1'), json({ messageId: 'm1', status: 'pending' }))
    await expect(clientOf(url).addMessage('s1', { text: 'hello' })).resolves.toMatchObject({ messageId: 'm1' })
    expect(seen).toHaveLength(2)
  })

  it('repeats a POST whose connection was refused', async () => {
    const { url, server } = await stubServer()
    await new Promise((resolve) => server.close(resolve))
    const clock = fakeClock()
    const error = await failure(clientOf(url, { clock }).addMessage('s1', { text: 'hello' }))
    expect(error).toMatchObject({ code: 'unreachable' })
    expect(clock.sleeps).toHaveLength(4)
  })

  it.each([
    [400, 'RejectedError', 'bad_request'],
    [401, 'FatalError', 'unauthorized'],
    [403, 'FatalError', 'forbidden'],
    [404, 'RejectedError', 'not_found'],
    [410, 'RejectedError', 'not_found'],
    [418, 'FatalError', 'bad_request'],
    [422, 'RejectedError', 'bad_request'],
  ])('sends one request when the answer is %d: %s %s (HTTP-09)', async (status, name, code) => {
    const { url, seen } = await stubServer(json({ message: 'no' }, status))
    const error = await failure(clientOf(url).get(sessionsList, { cursor: 'c7' }))
    expect(error).toMatchObject({ name, code, status })
    expect(error.message).toContain(`GET /api/v0/sessions was answered with status ${status}`)
    expect(error.message).not.toContain('c7')
    expect(seen).toHaveLength(1)
  })

  it.each([408, 429, 500, 502, 503, 504, 529])('repeats after status %d', async (status) => {
    const { url, seen } = await stubServer(json({}, status), json({}))
    await clientOf(url).get(sessionsList, {})
    expect(seen).toHaveLength(2)
  })

  it.each([
    ['a string', 'no route'],
    ['a DOMException', new DOMException('took too long', 'TimeoutError')],
    ['a cut-off body', new TypeError('terminated')],
    ['an error of the network', Object.assign(new Error('read'), { code: 'ECONNRESET' })],
  ])('repeats after fetch rejects with %s (HTTP-09)', async (_name, reason) => {
    let calls = 0
    const failing = () => Promise.reject(++calls < 3 ? reason : new DOMException('still', 'TimeoutError'))
    const error = await failure(clientOf('http://127.0.0.1:9', { fetch: failing }).get(sessionsList, {}))
    expect(error).toMatchObject({ name: 'RetryableError', code: 'unreachable' })
    expect(calls).toBe(5)
  })

  it('lets a programming error through at once, with its stack (HTTP-09)', async () => {
    let calls = 0
    const broken = () => Promise.reject(calls++ === 0 ? new TypeError('answer.map is not a function') : 'again')
    const error = await failure(clientOf('http://127.0.0.1:9', { fetch: broken }).get(sessionsList, {}))
    expect(error).toBeInstanceOf(TypeError)
    expect(error.stack).toContain('retry.test.ts')
    expect(calls).toBe(1)
  })
})
