import { describe, expect, it } from 'vitest'
import { allOf, allOutcomes, at, intent, message, outcomesOf, usePlatform, workerOn } from '../fixture.ts'

const platform = await usePlatform()
const { users } = platform

function limitOf(email: string) {
  return platform.simulator.limits.get(email.toLowerCase())
}
function sized(from: number, to: number, limit = 5) {
  return Object.fromEntries(users.slice(from, to).map((u) => [u, limit]))
}

describe('applying limits', () => {
  it('sends 250 entries in three PUTs of 100, 100 and 50, and records each as applied', async () => {
    const { apply, reader } = workerOn(platform)
    const messages = [sized(0, 100), sized(100, 200), sized(200, 250)].map((limits, i) =>
      message(intent(limits, { requestId: `r${i}` })),
    )
    const { failed, ended } = await apply(messages)
    expect(failed).toEqual([])
    expect(ended.applied).toBe(250)
    expect(platform.puts.map((put) => put.length).sort()).toEqual([100, 100, 50].sort())
    const outcomes = await allOutcomes(reader)
    expect(outcomes).toHaveLength(250)
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['applied']))
    expect(new Set(outcomes.map(({ apiCall }) => apiCall)).size).toBe(3)
    expect(platform.simulator.limits.size).toBe(250)
  })

  it('sends an address that several messages of a batch name once, with the newest limit (SQS-06)', async () => {
    const { apply, reader } = workerOn(platform)
    const [ana] = users as [string]
    const result = await apply([
      message(intent({ [ana]: 20 }, { requestId: 'new', requestedAt: at(1) })),
      message(intent({ [ana.toUpperCase()]: 50 }, { requestId: 'old', requestedAt: at(0) })),
    ])
    expect(result.ended).toMatchObject({ applied: 1, superseded: 1 })
    expect(platform.puts).toEqual([[{ email: ana, limit: 20 }]])
    const outcomes = await allOutcomes(reader)
    expect(outcomesOf(outcomes, 'old')).toEqual(['superseded'])
    expect(outcomes.find(({ requestId }) => requestId === 'old')?.reason).toContain('new')
  })

  it('gives a message that comes twice in a batch one outcome, and none while its answer is missing', async () => {
    const { apply, reader } = workerOn(platform)
    const [ana] = platform.users as [string]
    const twice = [message(intent({ [ana]: 5 })), message(intent({ [ana]: 5 }))]
    platform.simulator.fault({ kind: 'status', endpoint: 'setUserLimits', status: 503, times: 50 })
    expect((await apply(twice)).failed).toHaveLength(1)
    expect(await allOutcomes(reader)).toEqual([])
    platform.simulator.clearFaults()
    expect((await apply(twice)).ended).toMatchObject({ applied: 1, superseded: 0 })
    expect(await allOutcomes(reader)).toMatchObject([{ outcome: 'applied' }])
  })

  it('drops an older intent that comes in a later batch, and sends nothing for it (SQS-06)', async () => {
    const { apply, reader } = workerOn(platform)
    const [ana] = users as [string]
    await apply([message(intent({ [ana]: 20 }, { requestId: 'new', requestedAt: at(1) }))])
    await apply([message(intent({ [ana]: 50 }, { requestId: 'old', requestedAt: at(0) }))])
    expect(platform.puts).toHaveLength(1)
    expect(limitOf(ana)).toBe(20)
    expect(outcomesOf(await allOutcomes(reader), 'old')).toEqual(['superseded'])
    expect((await reader.statesWithPending([ana])).get(ana)).toMatchObject({
      limit: 20,
      certain: true,
      status: 'applied',
    })
  })

  it('takes the request id to order two intents of the same instant', async () => {
    const { apply } = workerOn(platform)
    const [ana] = users as [string]
    await apply([message(intent({ [ana]: 2 }, { requestId: 'b' })), message(intent({ [ana]: 1 }, { requestId: 'a' }))])
    expect(limitOf(ana)).toBe(2)
  })

  it("records the platform's error for one address, applies the others, and never sends it again (SQS-09)", async () => {
    const { apply, reader } = workerOn(platform)
    const [ana, bob, cy] = users as [string, string, string]
    platform.simulator.fault({ kind: 'limitsErrors', endpoint: 'setUserLimits', emails: [bob], error: 'not_found' })
    const first = message(intent({ [ana]: 1, [bob.toUpperCase()]: 2, [cy]: 3 }))
    expect((await apply([first])).failed).toEqual([])
    expect((await apply([{ ...first, receiveCount: 2 }])).failed).toEqual([])
    expect(platform.puts).toHaveLength(1)
    expect(outcomesOf(await allOutcomes(reader), 'request-1')).toEqual(['applied', 'rejected', 'applied'])
    expect((await reader.outcomesOf(bob.toLowerCase()))[0]).toMatchObject({ reason: 'not_found', limit: 2 })
  })

  it('shows an address that the answer does not mention as unaccounted', async () => {
    const { apply, reader } = workerOn(platform)
    const [ana, bob] = users as [string, string]
    platform.simulator.fault({ kind: 'limitsOmit', endpoint: 'setUserLimits', emails: [bob] })
    await apply([message(intent({ [ana]: 1, [bob]: 2 }))])
    expect(outcomesOf(await allOutcomes(reader), 'request-1')).toEqual(['applied', 'unaccounted'])
    expect((await allOf(reader.failedBetween(0, platform.clock.now() + 1))).map(({ identity }) => identity)).toEqual([
      bob,
    ])
    expect((await reader.statesWithPending([bob])).get(bob)).toMatchObject({ certain: false })
  })

  it('halves a group that is refused whole until the bad entry stands alone, in at most 16 PUTs', async () => {
    const { apply, reader } = workerOn(platform)
    for (const position of [0, 37, 99]) {
      platform.simulator.clearFaults()
      platform.puts.length = 0
      const bad = users[position]!
      platform.simulator.fault({ kind: 'limitsReject', endpoint: 'setUserLimits', emails: [bad] })
      const requestId = `bad-${position}`
      const { failed, ended } = await apply([
        message(intent(sized(0, 100, position), { requestId, requestedAt: at(position) })),
      ])
      expect(failed).toEqual([])
      expect(ended).toMatchObject({ applied: 99, rejected: 1 })
      expect(platform.puts.length).toBeLessThanOrEqual(16)
      const [outcome] = (await reader.outcomesOf(bad)).filter((one) => one.requestId === requestId)
      expect(outcome).toMatchObject({ outcome: 'rejected' })
      expect(outcome?.reason).toContain('status 400')
    }
  })

  it.each([401, 403])(
    'marks nothing as rejected on status %i, and applies all once the key is mended',
    async (status) => {
      const { apply, reader } = workerOn(platform)
      platform.simulator.fault({ kind: 'status', endpoint: 'setUserLimits', status })
      const messages = [message(intent(sized(0, 100))), message(intent(sized(100, 150), { requestId: 'r2' }))]
      const { failed, ended } = await apply(messages)
      expect(failed.map(({ messageId }) => messageId)).toEqual(messages.map(({ messageId }) => messageId))
      expect(ended).toEqual({ applied: 0, rejected: 0, invalid: 0, superseded: 0, unaccounted: 0 })
      expect(await allOutcomes(reader)).toEqual([])
      platform.simulator.clearFaults()
      const mended = await apply(messages.map((one) => ({ ...one, receiveCount: 2 })))
      expect(mended.failed).toEqual([])
      expect(mended.ended.applied).toBe(150)
    },
  )

  it('waits as long as Retry-After says when the time allows it', async () => {
    const { apply } = workerOn(platform)
    platform.simulator.fault({
      kind: 'status',
      endpoint: 'setUserLimits',
      status: 429,
      headers: { 'retry-after': '7' },
      times: 1,
    })
    const before = platform.clock.now()
    expect((await apply([message(intent(sized(0, 3)))])).ended.applied).toBe(3)
    expect(platform.clock.now() - before).toBeGreaterThanOrEqual(7_000)
  })

  it('gives messages back when Retry-After is longer than the time that is left, and says when to come again', async () => {
    const { apply, reader } = workerOn(platform)
    platform.simulator.fault({
      kind: 'status',
      endpoint: 'setUserLimits',
      status: 429,
      headers: { 'retry-after': '600' },
    })
    const { failed } = await apply([message(intent(sized(0, 3)))])
    expect(failed).toMatchObject([{ code: 'rate_limited', retryAfterMs: 600_000 }])
    expect(await allOutcomes(reader)).toEqual([])
  })

  it('gives messages back on 5xx with what is known marked as pending, so that no plan trusts the old limit', async () => {
    const { apply, reader } = workerOn(platform)
    const [ana] = users as [string]
    await apply([message(intent({ [ana]: 1 }, { requestId: 'r1', requestedAt: at(0) }))])
    platform.simulator.fault({ kind: 'status', endpoint: 'setUserLimits', status: 503 })
    const later = message(intent({ [ana]: 2 }, { requestId: 'r2', requestedAt: at(1) }))
    const { failed } = await apply([later])
    expect(failed).toMatchObject([{ code: 'server_error', messageId: later.messageId }])
    expect((await reader.statesWithPending([ana])).get(ana)).toMatchObject({
      status: 'pending',
      limit: 1,
      certain: false,
    })
    expect(await reader.failures([later.messageId])).toEqual(
      new Map([[later.messageId, expect.objectContaining({ code: 'server_error' })]]),
    )
    platform.simulator.clearFaults()
    await apply([{ ...later, receiveCount: 2 }])
    expect((await reader.statesWithPending([ana])).get(ana)).toMatchObject({
      status: 'applied',
      limit: 2,
      certain: true,
    })
  })

  it('stops before a PUT that the time left does not cover, and leaves its messages on the queue (SQS-11)', async () => {
    const { apply } = workerOn(platform)
    const messages = [message(intent(sized(0, 100))), message(intent(sized(100, 200), { requestId: 'r2' }))]
    let puts = 0
    const api = {
      ...platform.api,
      setUserCreditLimits: async (...args: Parameters<typeof platform.api.setUserCreditLimits>) => {
        puts += 1
        await platform.clock.sleep(8_000)
        return platform.api.setUserCreditLimits(...args)
      },
    }
    const end = platform.clock.now() + 14_000
    const deadline = { remainingMs: () => end - platform.clock.now() }
    const { failed, ended } = await apply(messages, { api, deadline, putsAtOnce: 1 })
    expect(puts).toBe(1)
    expect(ended.applied).toBe(100)
    expect(failed).toMatchObject([{ messageId: messages[1]!.messageId, code: 'timeout' }])
  })
})
