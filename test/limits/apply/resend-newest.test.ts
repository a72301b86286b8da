import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FatalError } from '../../../lib/core/errors.ts'
import { silentLog } from '../../../lib/core/log.ts'
import { at, intent, message, type Platform, startPlatform, workerOn } from '../fixture.ts'
import { memoryParts } from '../memory.ts'

let platform: Platform
let ana: string
beforeAll(async () => {
  platform = await startPlatform()
  ;[ana] = platform.users as [string]
})
afterAll(() => platform.simulator.close())

describe('a worker that outlived its lease', () => {
  it('gives the ledger free when sending again fails, and says that the limit is uncertain', async () => {
    const parts = memoryParts(platform.clock)
    const older = message(intent({ [ana]: 50 }, { requestId: 'older', requestedAt: at(5) }))
    const newer = message(intent({ [ana]: 20 }, { requestId: 'newer', requestedAt: at(10) }))
    let puts = 0
    const stalls = {
      ...platform.api,
      setUserCreditLimits: async (...args: Parameters<typeof platform.api.setUserCreditLimits>) => {
        puts += 1
        if (puts === 1) {
          await platform.clock.sleep(60 * 60_000)
          await workerOn(platform, parts).apply([newer])
          return platform.api.setUserCreditLimits(args[0])
        }
        throw new FatalError('the key was withdrawn', { code: 'unauthorized' })
      },
    }
    const worker = workerOn({ ...platform, api: stalls }, parts)
    await worker.apply([older], { putsAtOnce: 1 }).catch(() => {})
    expect(puts).toBe(2)
    expect((await worker.reader.statesWithPending([ana])).get(ana)).toMatchObject({ limit: 20, certain: false })
    expect((await workerOn(platform, parts).apply([{ ...older, receiveCount: 2 }])).failed).toEqual([])
    expect(platform.simulator.limits.get(ana)).toBe(20)
    expect((await worker.reader.statesWithPending([ana])).get(ana)).toMatchObject({ limit: 20, certain: true })
  })

  it('gives up, and says which limits need a new plan, when others hold the ledger for long', async () => {
    const parts = memoryParts(platform.clock)
    const late = message(intent({ [ana]: 70 }, { requestId: 'late', requestedAt: at(20) }))
    const stalls = {
      ...platform.api,
      setUserCreditLimits: async (...args: Parameters<typeof platform.api.setUserCreditLimits>) => {
        await platform.clock.sleep(60 * 60_000)
        const now = platform.clock.now()
        await parts.leases.acquire({ pk: 'worker', sk: 'lease' }, { owner: 'other', now, expiresAt: now + 3_600_000 })
        return platform.api.setUserCreditLimits(args[0])
      },
    }
    const errors: string[] = []
    const log = { ...silentLog, error: (text: string) => void errors.push(text) }
    const before = platform.clock.now()
    const { failed } = await workerOn({ ...platform, api: stalls }, parts).apply([late], { log })
    expect(errors[0]).toContain('plan the limits of these addresses anew')
    expect(failed).toHaveLength(1)
    expect(platform.clock.now() - before - 60 * 60_000).toBe(29 * 5_000)
  })
})
