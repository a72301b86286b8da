import { describe, expect, it } from 'vitest'
import { runOf, ScheduledRun } from '../../lib/sync/scheduled-run.ts'

describe('the run of an occasion', () => {
  it('is named by the time it was due and by its schedule', () => {
    const run = runOf({ schedule: 'nightly', scheduledAt: '2026-11-28T02:00:00Z' })
    expect(run).toEqual({ runId: '20261128T020000Z-nightly', scheduledAt: Date.UTC(2026, 10, 28, 2) })
  })

  it('is the same for every way to write that time', () => {
    const nightly = (scheduledAt: string) => runOf({ schedule: 'nightly', scheduledAt }).runId
    expect(nightly('2026-11-28T03:00:00+01:00')).toBe(nightly('2026-11-28T02:00:00.000Z'))
  })

  it('is another one for another schedule that is due at the same time', () => {
    const at = (schedule: string) => runOf({ schedule, scheduledAt: '2026-11-28T02:00:00Z' }).runId
    expect(at('nightly')).not.toBe(at('controls'))
  })

  it.each([
    { schedule: 'nightly', scheduledAt: '28.11.2026' },
    { schedule: 'nightly', scheduledAt: '2026-11-28T02:00:00' },
    { schedule: 'a/b', scheduledAt: '2026-11-28T02:00:00Z' },
    { schedule: 'nightly' },
  ])('is refused for %j, which would name no folder or another time on each machine', (occasion) => {
    expect(ScheduledRun.safeParse(occasion).success).toBe(false)
  })
})
