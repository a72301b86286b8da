import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
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
