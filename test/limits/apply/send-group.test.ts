import { describe, expect, it } from 'vitest'
import { allOutcomes, intent, message, usePlatform, workerOn } from '../fixture.ts'

const platform = await usePlatform()
const { users } = platform

function sized(from: number, to: number, limit = 5) {
  return Object.fromEntries(users.slice(from, to).map((u) => [u, limit]))
}

describe('a group that is refused whole', () => {
  it.each([402, 409, 413, 418, 451])(
    'costs the others nothing when one address meets status %i (GROUP-01)',
    async (status) => {
      for (const position of [0, 37, 99]) {
        const { apply, reader } = workerOn(platform)
        platform.simulator.clearFaults()
        platform.puts.length = 0
        const bad = users[position]!
        platform.simulator.fault({ kind: 'limitsReject', endpoint: 'setUserLimits', emails: [bad], status })
        const { failed, ended } = await apply([message(intent(sized(0, 100)))])
        expect([failed, ended]).toMatchObject([[], { applied: 99, rejected: 1 }])
        expect((await reader.outcomesOf(bad))[0]?.reason).toContain(`status ${status}`)
        expect(platform.puts.length).toBeLessThanOrEqual(16)
      }
    },
  )

  it('is halved for its size once, and the smaller size stays for the rest of the batch (GROUP-01)', async () => {
    const { apply } = workerOn(platform)
    platform.simulator.fault({ kind: 'limitsTooMany', endpoint: 'setUserLimits', most: 50 })
    const messages = [0, 1, 2].map((n) => message(intent(sized(n * 100, n * 100 + 100), { requestId: `r${n}` })))
    const { failed, ended } = await apply(messages, { putsAtOnce: 1 })
    expect([failed, ended.applied]).toEqual([[], 300])
    expect(platform.puts.map(({ length }) => length)).toEqual([100, 50, 50, 50, 50, 50, 50])
  })

  it('goes through where no more than 10 do (PROV-12)', async () => {
    const { apply } = workerOn(platform)
    platform.simulator.fault({ kind: 'limitsTooMany', endpoint: 'setUserLimits', most: 10 })
    const { failed, ended } = await apply([message(intent(sized(0, 30)))])
    expect([failed, ended.applied]).toEqual([[], 30])
    expect(platform.puts.map(({ length }) => length)).toEqual([30, 15, 8, 7, 8, 7])
  })

  it('is no group that is too large when one address alone meets 413: others go by the hundred again', async () => {
    const { apply } = workerOn(platform)
    const [bad] = users as [string]
    platform.simulator.fault({ kind: 'limitsReject', endpoint: 'setUserLimits', emails: [bad], status: 413 })
    const messages = [0, 1].map((n) => message(intent(sized(n * 100, n * 100 + 100), { requestId: `r${n}` })))
    const { ended } = await apply(messages, { putsAtOnce: 1 })
    expect(ended).toMatchObject({ applied: 199, rejected: 1 })
    expect(platform.puts.map(({ length }) => length)).toEqual([
      100, 50, 25, 13, 7, 4, 2, 1, 1, 2, 3, 6, 12, 25, 50, 100,
    ])
  })

  it.each([408, 429, 500])('is not halved for status %i, which another time may mend', async (status) => {
    const { apply } = workerOn(platform)
    platform.simulator.fault({ kind: 'status', endpoint: 'setUserLimits', status })
    expect((await apply([message(intent(sized(0, 4)))])).failed).toHaveLength(1)
    expect(new Set(platform.puts.map(({ length }) => length))).toEqual(new Set([4]))
  })
})

describe('trouble of one group', () => {
  const messages = () => [
    message(intent(sized(0, 100), { requestId: 'first' })),
    message(intent(sized(100, 200), { requestId: 'second' })),
    message(intent(sized(200, 300), { requestId: 'third' })),
  ]
  const inFirst = users.slice(40, 41)

  it.each([
    ['an unexpected body', { kind: 'json200', body: { ok: true }, page: 1 }, 'unexpected_body'],
    ['a status 500', { kind: 'limitsReject', emails: inFirst, status: 500 }, 'server_error'],
    ['20 refusals in a row', { kind: 'limitsReject', emails: users.slice(0, 100), status: 409 }, 'bad_request'],
    ['404 for all of its addresses', { kind: 'limitsReject', emails: users.slice(0, 100), status: 404 }, 'bad_request'],
  ] as const)('fails only the messages with entries in it: %s', async (_what, fault, code) => {
    const { apply, reader } = workerOn(platform)
    platform.simulator.fault({ endpoint: 'setUserLimits', ...fault } as never)
    const batch = messages()
    const { failed, ended } = await apply(batch, { putsAtOnce: 1 })
    expect(failed).toMatchObject([{ messageId: batch[0]!.messageId, code }])
    expect(ended.applied).toBe(200)
    expect(new Set((await allOutcomes(reader)).map(({ requestId }) => requestId))).toEqual(new Set(['second', 'third']))
  })

  it('fails each message with the error of its own group', async () => {
    const { apply } = workerOn(platform)
    platform.simulator.fault({ kind: 'limitsReject', endpoint: 'setUserLimits', emails: inFirst, status: 500 })
    platform.simulator.fault({ kind: 'json200', endpoint: 'setUserLimits', body: [], page: 7 })
    const { failed } = await apply(messages(), { putsAtOnce: 1 })
    expect(failed.map(({ code }) => code)).toEqual(['server_error', 'unexpected_body'])
  })

  it.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [429, 'rate_limited'],
  ])('keeps all others back when every group would meet it: status %i', async (status, code) => {
    const { apply } = workerOn(platform)
    const headers = { 'retry-after': '600' }
    platform.simulator.fault({
      kind: 'status',
      endpoint: 'setUserLimits',
      status,
      ...(status === 429 ? { headers } : {}),
    })
    const { failed } = await apply(messages(), { putsAtOnce: 1 })
    expect(failed.map((one) => one.code)).toEqual([code, code, code])
    expect(platform.puts).toHaveLength(1)
  })
})

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

  it.each([404, 405, 410, 421])(
    'leaves a small batch on the queue when each address meets status %i',
    async (status) => {
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
    },
  )

  it('takes a 404 for one address as the word on that address', async () => {
    const { apply } = workerOn(platform)
    // All three, the first two, and the first alone meet it; then it is gone.
    platform.simulator.fault({ kind: 'status', endpoint: 'setUserLimits', status: 404, page: [1, 2, 3] })
    expect((await apply([message(intent(sized(0, 3)))])).ended).toMatchObject({ applied: 2, rejected: 1 })
  })
})
