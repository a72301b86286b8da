import { describe, expect, it } from 'vitest'
import { watchLease } from '../../lib/sync/lease.ts'
import { manualClock } from './support/clock.ts'

function settled() {
  return new Promise((resolve) => setImmediate(resolve))
}
function setup() {
  const clock = manualClock()
  const lease = watchLease(clock, { owner: 'me', expiresAt: clock.now() + 1_000, ttlMs: 1_000 })
  return { clock, lease }
}

describe('a lease', () => {
  it('aborts what is written under it when it has run out, not before', async () => {
    const { clock, lease } = setup()
    clock.advance(999)
    await settled()
    expect(lease.signal.aborted).toBe(false)
    clock.advance(1)
    await settled()
    expect(lease.signal.aborted).toBe(true)
    expect(lease.signal.reason).toMatchObject({ code: 'lease_lost', message: expect.stringContaining('me') })
  })

  it('tells those who listen at that moment', async () => {
    const { clock, lease } = setup()
    const told = new Promise((resolve) => lease.signal.addEventListener('abort', resolve))
    clock.advance(1_000)
    await expect(told).resolves.toBeDefined()
    expect(() => lease.signal.throwIfAborted()).toThrow(expect.objectContaining({ code: 'lease_lost' }))
  })

  it('lasts longer once it is extended', async () => {
    const { clock, lease } = setup()
    clock.advance(600)
    lease.extend(lease.proposal())
    expect(lease.expiresAt).toBe(clock.now() + 1_000)
    clock.advance(999)
    await settled()
    expect(lease.signal.aborted).toBe(false)
    clock.advance(1)
    await settled()
    expect(lease.signal.aborted).toBe(true)
  })

  it('is not extended by a proposal alone', async () => {
    const { clock, lease } = setup()
    clock.advance(900)
    lease.proposal()
    clock.advance(100)
    await settled()
    expect(lease.signal.aborted).toBe(true)
  })

  it('says nothing any more after it was stopped', async () => {
    const { clock, lease } = setup()
    lease.stop()
    clock.advance(10_000)
    await settled()
    expect(lease.signal.aborted).toBe(false)
  })
})
