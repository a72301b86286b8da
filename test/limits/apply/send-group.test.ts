import { describe, expect, it } from 'vitest'
import { allOutcomes, intent, message, usePlatform, workerOn } from '../fixture.ts'

const platform = await usePlatform()
const { users } = platform

function sized(from: number, to: number, limit = 5) {
  return Object.fromEntries(users.slice(from, to).map((u) => [u, limit]))
}

describe('a platform that takes no limit at all', () => {
  it('stops when the platform refuses everything, instead of calling every address bad', async () => {
    const { apply, reader } = workerOn(platform)
    platform.simulator.fault({ kind: 'status', endpoint: 'setUserLimits', status: 400 })
    const { failed } = await apply([message(intent(sized(0, 100)))])
    expect(failed).toMatchObject([{ code: 'bad_request' }])
    expect(await allOutcomes(reader)).toEqual([])
    platform.simulator.clearFaults()
    expect((await apply([message(intent(sized(0, 100)), 2)])).ended.applied).toBe(100)
  })

  it.each([404, 405, 410])('leaves a small batch on the queue when each address meets status %i', async (status) => {
    const { apply, reader } = workerOn(platform)
    platform.simulator.fault({ kind: 'status', endpoint: 'setUserLimits', status })
    const few = message(intent(sized(0, 3)))
    const { failed, ended } = await apply([few])
    expect(failed).toMatchObject([{ messageId: few.messageId, retryAfterMs: 15 * 60_000 }])
    expect(failed[0]?.reason).toContain('platform-sync doctor')
    expect(ended.rejected).toBe(0)
    expect(await allOutcomes(reader)).toEqual([])
    platform.simulator.clearFaults()
    expect((await apply([{ ...few, receiveCount: 2 }])).ended.applied).toBe(3)
  })

  it('takes a 404 for one address as the word on that address', async () => {
    const { apply } = workerOn(platform)
    // All three, the first two, and the first alone meet it; then it is gone.
    platform.simulator.fault({ kind: 'status', endpoint: 'setUserLimits', status: 404, page: [1, 2, 3] })
    expect((await apply([message(intent(sized(0, 3)))])).ended).toMatchObject({ applied: 2, rejected: 1 })
  })
})
