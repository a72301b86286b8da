import { execFileSync } from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { systemClock, utcDate } from '../../lib/core/clock.ts'
import { deadlineAfter, noDeadline } from '../../lib/core/deadline.ts'
import { manualClock } from '../sync/support/clock.ts'

describe('the date of a partition', () => {
  it.each(['America/Los_Angeles', 'Pacific/Kiritimati', 'UTC'])('is the UTC date on a machine in %s (S3-08)', (TZ) => {
    const clock = new URL('../../lib/core/clock.ts', import.meta.url).href
    const script = `import { utcDate } from ${JSON.stringify(clock)}
      const zone = new Date(0).getTimezoneOffset()
      console.log(zone, utcDate(Date.parse('2026-03-01T00:30:00Z')), utcDate(Date.parse('2026-03-01T23:59:59.999Z')))`
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, TZ },
    })
    const [zone, ...dates] = output.toString().trim().split(' ')
    expect(dates).toEqual(['2026-03-01', '2026-03-01'])
    expect(zone === '0').toBe(TZ === 'UTC')
  })

  it('changes at midnight UTC', () => {
    expect([utcDate(Date.UTC(2026, 11, 31, 23, 59, 59, 999)), utcDate(Date.UTC(2027, 0, 1))]).toEqual([
      '2026-12-31',
      '2027-01-01',
    ])
  })
})

describe('the clock of the machine', () => {
  it('sleeps at least as long as asked, and wakes with an error when it is told to stop', async () => {
    const began = performance.now()
    await systemClock.sleep(20)
    expect(performance.now() - began).toBeGreaterThanOrEqual(19)
    const stop = new AbortController()
    const sleeping = systemClock.sleep(60_000, stop.signal)
    stop.abort()
    await expect(sleeping).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('sleeps longer than a timer of Node can, which would fire at once', async () => {
    const stop = new AbortController()
    let awake = false
    const sleeping = systemClock.sleep(30 * 24 * 3_600_000, stop.signal).finally(() => {
      awake = true
    })
    await systemClock.sleep(50)
    expect(awake).toBe(false)
    stop.abort()
    await expect(sleeping).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('wakes from a sleep of several timers when all of them are over', async () => {
    const slices: number[] = []
    const timer = vi.spyOn(timers, 'setTimeout').mockImplementation(async (ms) => void slices.push(ms ?? 0))
    syncBuiltinESMExports()
    try {
      await systemClock.sleep(60 * 24 * 3_600_000)
    } finally {
      timer.mockRestore()
      syncBuiltinESMExports()
    }
    expect(slices.reduce((sum, ms) => sum + ms, 0)).toBe(60 * 24 * 3_600_000)
    expect(Math.max(...slices)).toBeLessThan(2 ** 31)
  })
})

describe('a deadline', () => {
  it('comes nearer as time goes by, and passes', () => {
    const clock = manualClock()
    const deadline = deadlineAfter(clock, 1000)
    expect(deadline.remainingMs()).toBe(1000)
    clock.advance(1500)
    expect(deadline.remainingMs()).toBe(-500)
    expect(noDeadline.remainingMs()).toBe(Number.POSITIVE_INFINITY)
  })
})
