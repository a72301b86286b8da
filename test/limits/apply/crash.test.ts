import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LimitMessage } from '../../../lib/limits/apply/messages.ts'
import { type Death, Killed, mortal } from '../crashes.ts'
import { allOutcomes, at, intent, message, type Platform, startPlatform, workerOn } from '../fixture.ts'
import { memoryParts } from '../memory.ts'

let platform: Platform
let ana: string
let bob: string
let cy: string
beforeAll(async () => {
  platform = await startPlatform()
  ;[ana, bob, cy] = platform.users as [string, string, string]
})
afterAll(() => platform.simulator.close())
beforeEach(() => {
  platform.simulator.clearFaults()
  platform.simulator.limits.clear()
  platform.puts.length = 0
})

/** The limits that the platform received for ana, in order. */
function received() {
  return platform.puts.flat().flatMap(({ email, limit }) => (email === ana ? [limit] : []))
}

function again(batch: LimitMessage[]) {
  return batch.map((one) => ({ ...one, receiveCount: one.receiveCount + 1 }))
}

/** A ledger in which ana has 1, and a batch that brings her 20, an older 50, an unknown address and bad entries. */
async function scene() {
  const parts = memoryParts(platform.clock)
  await workerOn(platform, parts).apply([message(intent({ [ana]: 1 }, { requestId: 'zero', requestedAt: at(-10) }))])
  const older = message(intent({ [ana]: 50, [cy]: 9 }, { requestId: 'older', requestedAt: at(5) }))
  const batch = [
    message(
      intent({ [ana]: 20, [bob]: 3, 'nobody@x.io': 1, nonsense: 4 }, { requestId: 'newer', requestedAt: at(10) }),
    ),
    older,
  ]
  return { parts, batch, older }
}

/** Runs a batch in a worker that dies there; false when it had ended before. */
async function dieIn(parts: ReturnType<typeof memoryParts>, batch: LimitMessage[], death: Death): Promise<boolean> {
  const outside = mortal(parts, platform.api, death)
  const worker = workerOn({ ...platform, api: { ...platform.api, ...outside.api } }, outside.parts)
  const died = await worker.apply(batch).then(
    () => false,
    (error: unknown) => {
      if (error instanceof Killed) return true
      throw error
    },
  )
  // The lease of the dead ends before the queue hands its messages out again.
  await platform.clock.sleep(10 * 60_000)
  return died
}

async function expectFinalState(parts: ReturnType<typeof memoryParts>) {
  const { reader } = workerOn(platform, parts)
  expect(Object.fromEntries(platform.simulator.limits)).toEqual({ [ana]: 20, [bob]: 3, [cy]: 9 })
  const outcomes = (await allOutcomes(reader)).map(({ requestId, identity, outcome }) => [requestId, identity, outcome])
  expect(outcomes.sort()).toEqual(
    [
      ['newer', 'nobody@x.io', 'rejected'],
      ['newer', 'nonsense', 'invalid'],
      ['newer', ana, 'applied'],
      ['newer', bob, 'applied'],
      ['older', ana, 'superseded'],
      ['older', cy, 'applied'],
      ['zero', ana, 'applied'],
    ].sort(),
  )
  for (const [identity, limit] of Object.entries({ [ana]: 20, [bob]: 3, [cy]: 9 })) {
    const states = await reader.statesWithPending([identity])
    expect(states.get(identity)).toMatchObject({ status: 'applied', limit, certain: true })
  }
}

/** How many calls to the outside an undisturbed batch makes. */
async function callsOf(): Promise<string[]> {
  const { parts, batch } = await scene()
  const outside = mortal(parts, platform.api)
  await workerOn({ ...platform, api: { ...platform.api, ...outside.api } }, outside.parts).apply(batch)
  return outside.calls
}

describe('a worker killed at any call to the outside', () => {
  it('makes the calls that the matrix counts on', async () => {
    expect(await callsOf()).toEqual([
      'acquire',
      'read',
      'read',
      'write',
      'write',
      'write',
      'save',
      'put',
      'write',
      'write',
      'write',
      'save',
    ])
  })

  it.each(['before', 'after'] as const)(
    'ends like one that was never disturbed, killed %s any of them',
    async (when) => {
      const { length } = await callsOf()
      for (let call = 1; call <= length; call++) {
        platform.simulator.limits.clear()
        const { parts, batch } = await scene()
        expect(await dieIn(parts, batch, { call, when })).toBe(true)
        expect((await workerOn(platform, parts).apply(again(batch))).failed).toEqual([])
        await expectFinalState(parts)
      }
    },
  )

  it.each(['before', 'after'] as const)(
    'lets no older intent pass the one it may have sent, killed %s any of them (redrive before redelivery)',
    async (when) => {
      const { length } = await callsOf()
      for (let call = 1; call <= length; call++) {
        platform.simulator.limits.clear()
        const { parts, batch, older } = await scene()
        platform.puts.length = 0
        await dieIn(parts, batch, { call, when })
        const sentNewer = received().includes(20)
        await workerOn(platform, parts).apply(again([older]))
        if (sentNewer) expect(platform.simulator.limits.get(ana)).toBe(20)
        await workerOn(platform, parts).apply(again([batch[0]!]))
        expect(platform.simulator.limits.get(ana)).toBe(20)
        const lastOld = received().lastIndexOf(50)
        expect(lastOld).toBeLessThan(received().lastIndexOf(20))
      }
    },
  )

  it('makes an address pending for planners from the moment its limit may be at the platform', async () => {
    const { parts, batch } = await scene()
    const put = (await callsOf()).indexOf('put') + 1
    await dieIn(parts, batch, { call: put, when: 'after' })
    const { reader } = workerOn(platform, parts)
    expect((await reader.statesWithPending([ana])).get(ana)).toMatchObject({
      status: 'pending',
      limit: 1,
      certain: false,
    })
  })

  it('repeats a batch that was done but not deleted without sending or recording anything anew', async () => {
    const { parts, batch } = await scene()
    const { apply, reader } = workerOn(platform, parts)
    await apply(batch)
    const before = await allOutcomes(reader)
    platform.puts.length = 0
    await apply(again(batch))
    expect(platform.puts).toEqual([])
    expect(await allOutcomes(reader)).toEqual(before)
  })

  it('supersedes a week-old dead letter that is put back', async () => {
    const { parts, batch } = await scene()
    const dead = message(intent({ [ana]: 70 }, { requestId: 'dead', requestedAt: at(1) }))
    const { apply, reader } = workerOn(platform, parts)
    await apply(batch)
    await platform.clock.sleep(7 * 24 * 3_600_000)
    await apply([dead])
    expect(platform.simulator.limits.get(ana)).toBe(20)
    expect((await reader.outcomesOf(ana)).find(({ requestId }) => requestId === 'dead')?.outcome).toBe('superseded')
    expect((await reader.statesWithPending([ana])).get(ana)).toMatchObject({ limit: 20, certain: true })
  })
})

describe('two workers', () => {
  it('leaves the messages on the queue while another worker holds the ledger, without any PUT', async () => {
    const { parts, batch } = await scene()
    platform.puts.length = 0
    const held = await parts.leases.acquire(
      { pk: 'worker', sk: 'lease' },
      { owner: 'other', now: platform.clock.now(), expiresAt: platform.clock.now() + 60_000 },
    )
    expect(held).not.toHaveProperty('heldBy')
    const { failed } = await workerOn(platform, parts).apply(batch)
    expect(failed).toMatchObject([{ retryAfterMs: 60_000 }, { retryAfterMs: 60_000 }])
    expect(platform.puts).toEqual([])
  })

  it('puts the newest limit right when a stalled worker sends an older one after it', async () => {
    const { parts, batch, older } = await scene()
    let stalled = false
    const stalls = {
      ...platform.api,
      setUserCreditLimits: async (...args: Parameters<typeof platform.api.setUserCreditLimits>) => {
        if (stalled) return platform.api.setUserCreditLimits(...args)
        stalled = true
        // The first worker sleeps past its lease; the second one takes over and sends the newer limit.
        await platform.clock.sleep(60 * 60_000)
        expect((await workerOn(platform, parts).apply([batch[0]!])).failed).toEqual([])
        return platform.api.setUserCreditLimits(args[0])
      },
    }
    const { failed } = await workerOn({ ...platform, api: stalls }, parts).apply([older], {
      api: stalls,
      putsAtOnce: 1,
    })
    expect(failed).toMatchObject([{ code: 'lease_lost' }])
    expect(received().slice(-3)).toEqual([20, 50, 20])
    expect((await workerOn(platform, parts).apply(again([older]))).failed).toEqual([])
    await expectFinalState(parts)
  })

  it('sends the newest limit again when an older message comes a second time, for it may have been sent before', async () => {
    const { parts, batch, older } = await scene()
    const { apply } = workerOn(platform, parts)
    await apply([batch[0]!])
    platform.simulator.limits.set(ana, 50)
    await apply(again([older]))
    expect(platform.simulator.limits.get(ana)).toBe(20)
    await expectFinalState(parts)
  })

  it('says that a limit is uncertain when sending it again fails', async () => {
    const { parts, batch, older } = await scene()
    const { apply, reader } = workerOn(platform, parts)
    await apply([batch[0]!])
    platform.simulator.limits.set(ana, 50)
    platform.simulator.fault({ kind: 'status', endpoint: 'setUserLimits', status: 503, times: 50 })
    await apply(again([older]))
    platform.simulator.clearFaults()
    expect((await reader.statesWithPending([ana])).get(ana)).toMatchObject({ limit: 20, certain: false })
  })
})
