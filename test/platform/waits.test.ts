import { describe, expect, it } from 'vitest'
import type { Json } from '../../lib/core/json.ts'
import { waitAskedBy } from '../../lib/platform/waits.ts'
import { clientOf, failure, fakeClock, sessionsList } from './fixture.ts'
import { json, stubServer } from './stub-server.ts'

describe('what an answer says of when to come back', () => {
  const now = Date.UTC(2026, 4, 6, 10)
  const day = 86_400_000
  it.each<[number, Record<string, string>, number | undefined]>([
    [429, { 'retry-after': ' 5 ' }, 5_000],
    [429, { 'retry-after': '1.5' }, 1_500],
    [429, { 'retry-after': 'Wed, 06 May 2026 10:02:00 GMT' }, 120_000],
    [429, { 'retry-after': 'Wednesday, 06-May-26 10:02:00 GMT' }, 120_000],
    [429, { 'retry-after': 'Wed May  6 10:02:00 2026' }, 120_000],
    [429, { 'retry-after': '2026-05-06T12:02:00+02:00' }, 120_000],
    [429, { 'retry-after': `${now / 1000 + 7}` }, 7_000],
    [429, { 'retry-after-ms': '1250', 'retry-after': '2' }, 1_250],
    [429, { 'x-ratelimit-reset': `${now / 1000 + 30}` }, 30_000],
    [429, { 'x-ratelimit-reset': `${now + 30_500}` }, 30_500],
    [429, { 'ratelimit-reset': '30', 'ratelimit-remaining': '0' }, 30_000],
    [429, { 'x-rate-limit-reset': '30', 'x-rate-limit-remaining': '3' }, undefined],
    [403, { 'x-ratelimit-reset': '30', 'x-ratelimit-remaining': '0' }, 30_000],
    [500, { 'x-ratelimit-reset': '30', 'x-ratelimit-remaining': '99' }, undefined],
    [500, { 'x-ratelimit-reset': '30' }, undefined],
    [429, { 'retry-after': '0', 'x-ratelimit-reset': '4' }, 4_000],
    [429, { 'retry-after': '2592000' }, 30 * day],
    [429, { 'retry-after': '999999999' }, 31 * day],
    [429, { 'retry-after': '99999999999999999999' }, undefined],
    [429, { 'retry-after': `${now / 1000 - 7}` }, undefined],
    [429, { 'retry-after': '7, 9' }, 9_000],
    [429, { 'retry-after': 'Wed, 06 May 2026 10:02:00 GMT, 9, 0' }, 120_000],
    [429, { 'retry-after': 'soon, -3' }, undefined],
    [429, { 'retry-after': 'Wed, 06 May 2026 10:02:00 UTC' }, 120_000],
    [429, { 'retry-after': 'Wed, 06 May 2026 12:02:00 +0200' }, 120_000],
    [429, { 'retry-after': '1m30s' }, 90_000],
    [429, { 'retry-after': 'm' }, undefined],
    [429, { 'ratelimit-reset': '30;w=60', 'ratelimit-remaining': '0;w=60' }, 30_000],
    [429, { 'x-ratelimit-reset': '10, 3600', 'x-ratelimit-remaining': '0, 900' }, 10_000],
    [429, { 'x-ratelimit-reset': '10', 'x-ratelimit-remaining': '' }, 10_000],
    [429, { 'x-ratelimit-reset': `${(now + 30_000) * 1000}` }, 30_000],
    [429, { ratelimit: 'limit=100, remaining=0, reset=50' }, 50_000],
    [503, { ratelimit: '"burst";r=0;t=4, "day";r=900;t=40000' }, 4_000],
    [500, { ratelimit: '"burst";r=10;t=4' }, undefined],
  ])('reads from %d with %j a wait of %s ms (HTTP-01, HTTP-13)', (status, headers, waitMs) => {
    expect(waitAskedBy({ status, headers: new Headers(headers), body: undefined }, now)).toBe(waitMs)
  })

  it.each<[Json, number | undefined]>([
    [{ retry_after: 2.5 }, 2_500],
    [{ error: { retryAfterMs: 300 } }, 300],
    [{ error: 'later', retryAfterSeconds: '4' }, 4_000],
    [{ retry_after: null }, undefined],
    [[{ retry_after: 3 }], undefined],
  ])('reads from the body %j a wait of %s ms', (body, waitMs) => {
    expect(waitAskedBy({ status: 429, headers: new Headers(), body }, now)).toBe(waitMs)
  })
})

describe('a refusal that says when to come back', () => {
  it.each([400, 403, 404, 418, 500, 503])(
    'waits for %d with Retry-After as for a rate limit, and without it does as ever (HTTP-13)',
    async (status) => {
      const refused = json({ message: 'exceeded a secondary rate limit' }, status, { 'retry-after': '3' })
      const { url } = await stubServer(refused, json({ ok: 1 }), refused)
      const clock = fakeClock()
      await expect(clientOf(url, { clock }).get(sessionsList, {})).resolves.toEqual({ ok: 1 })
      expect(clock.sleeps).toEqual([3_000])
      const error = await failure(clientOf(url, { clock, retry: { maxAttempts: 2 } }).get(sessionsList, {}))
      expect(error).toMatchObject({ name: 'RetryableError', code: 'rate_limited', status, retryAfterMs: 3_000 })
    },
  )

  it('takes 401 for a wrong key whatever it says of waiting', async () => {
    const { url } = await stubServer(json({}, 401, { 'retry-after': '3' }))
    expect(await failure(clientOf(url).get(sessionsList, {}))).toMatchObject({ code: 'unauthorized' })
  })

  it('never repeats a POST after a 503 that says when to come back, since it may have done its work', async () => {
    const { url, seen } = await stubServer(json({}, 503, { 'retry-after': '1' }))
    await failure(clientOf(url).addMessage('s1', { text: 'hello' }))
    expect(seen).toHaveLength(1)
  })
})
