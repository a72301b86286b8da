import { describe, expect, it } from 'vitest'
import { systemClock } from '../../lib/core/clock.ts'
import { RetryableError } from '../../lib/core/errors.ts'
import { fullJitter, type RetryOptions, retry } from '../../lib/core/retry.ts'
import { failure, fakeClock } from '../platform/fixture.ts'

function busy(retryAfterMs?: number) {
  return new RetryableError('busy', { code: 'rate_limited', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })
}

/** An attempt that fails so often before it has a result. */
function failing(times: number, error = busy()) {
  const attempt = async () => (++attempt.calls <= times ? error : 'done')
  attempt.calls = 0
  return attempt
}

describe('waits between attempts', () => {
  const growth = { baseMs: 100, capMs: 1_000 }

  it.each([
    [0, [0, 0, 0, 0, 0]],
    [0.5, [50, 100, 200, 400, 500]],
    [0.999, [100, 200, 400, 799, 999]],
  ])('are anything from nothing up to a bound that doubles to a cap: chance %d', async (chance, waits) => {
    const clock = fakeClock()
    const jitter = fullJitter({ clock, random: () => chance }, growth)
    await expect(retry(failing(5), { attempts: 6, waits: jitter })).resolves.toBe('done')
    expect(clock.sleeps).toEqual(waits)
  })

  it('are as long as the failure says, and never shorter than allowed', async () => {
    const clock = fakeClock()
    const waits = { clock, afterMs: () => 1, leastMs: 500 }
    await retry(failing(1, busy(7_000)), { attempts: 2, waits })
    await retry(failing(1, busy(0)), { attempts: 2, waits })
    await retry(failing(1), { attempts: 2, waits })
    expect(clock.sleeps).toEqual([7_000, 500, 500])
  })

  it('are left out where none are asked for, and after the last attempt', async () => {
    await expect(retry(failing(3), { attempts: 4 })).resolves.toBe('done')
    const clock = fakeClock()
    await failure(retry(failing(9), { attempts: 3, waits: { clock, afterMs: () => 10 } }))
    expect(clock.sleeps).toEqual([10, 10])
  })

  it('are not begun when they do not fit into the time left: the caller hears how long it would be', async () => {
    const clock = fakeClock()
    const waits = { clock, afterMs: () => 10, remainingMs: () => 5_000 }
    const attempt = failing(9, busy(5_000))
    const error = await failure(retry(attempt, { attempts: 5, waits }))
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterMs: 5_000, cause: { message: 'busy' } })
    expect(error.message).toContain('in 5 s, too late')
    expect(clock.sleeps).toEqual([])
    expect(attempt.calls).toBe(1)
  })

  it('end at once with the reason when a signal aborts, on the real clock', async () => {
    const stop = new AbortController()
    const waits = { clock: systemClock, afterMs: () => 60_000 }
    const attempt = failing(9)
    const options: RetryOptions = { attempts: 5, waits, signal: stop.signal }
    const running = failure(retry(attempt, { ...options, onRetry: () => setImmediate(() => stop.abort(reason)) }))
    const reason = new Error('the lease is lost')
    expect(await running).toBe(reason)
    expect(attempt.calls).toBe(1)
    expect(await failure(retry(attempt, options))).toBe(reason)
    expect(attempt.calls).toBe(1)
  })
})

describe('attempts', () => {
  it('are as many as allowed, and the last failure goes to the caller', async () => {
    const attempt = failing(9)
    const heard: number[] = []
    const error = await failure(retry(attempt, { attempts: 3, onRetry: (_failure, number) => heard.push(number) }))
    expect(error).toMatchObject({ message: 'busy', code: 'rate_limited' })
    expect([attempt.calls, heard]).toEqual([3, [1, 2]])
  })

  it('end with what an attempt throws, as it is', async () => {
    for (const thrown of [busy(), new TypeError('rows.map is not a function'), new Error('disk full')]) {
      let calls = 0
      const attempt = async () => {
        calls += 1
        throw thrown
      }
      expect(await failure(retry(attempt, { attempts: 5 }))).toBe(thrown)
      expect(calls).toBe(1)
    }
  })

  it('of two layers are not multiplied (HTTP-03)', async () => {
    const inner = failing(99)
    await failure(retry(() => retry(inner, { attempts: 3 }), { attempts: 3 }))
    expect(inner.calls).toBe(3)
  })
})
