import { describe, expect, it } from 'vitest'
import { RetryableError } from '../../../lib/core/errors.ts'
import { allOutcomes, at, intent, message, outcomesOf, usePlatform, workerOn } from '../fixture.ts'

const platform = await usePlatform()
const { users } = platform

function limitOf(email: string) {
  return platform.simulator.limits.get(email.toLowerCase())
}

describe('entries of intents', () => {
  it('lets a message that is no JSON, has a key twice or breaks the schema fail alone (SQS-01, JSON-03)', async () => {
    const { apply } = workerOn(platform)
    const good = users.slice(0, 7).map((user, i) => message(intent({ [user]: i }, { requestId: `g${i}` })))
    const twice =
      '{"requestId":"x","requestedAt":"2026-05-06T10:00:00Z","requestedBy":"a","source":"b","limits":[{"email":"a@x.io","limit":5,"limit":500}]}'
    const bad = ['no json', twice, JSON.stringify(intent({}))].map((body) => message(body))
    const { failed, ended } = await apply([...good.slice(0, 3), ...bad, ...good.slice(3)])
    expect(failed.map(({ messageId }) => messageId)).toEqual(bad.map(({ messageId }) => messageId))
    expect(failed.every(({ code, reason }) => code === 'bad_request' && reason !== '')).toBe(true)
    expect(ended.applied).toBe(7)
  })

  it('notes a message that can not be read, and lets it go soon, also when the ledger fails for the others', async () => {
    const { apply, reader, ledger } = workerOn(platform)
    const [ana] = users as [string]
    const broken = new RetryableError('throttled', { code: 'storage_unavailable' })
    const failing = { ...ledger, states: () => Promise.reject(broken) }
    const [good, bad] = [message(intent({ [ana]: 1 })), message('no json')]
    const { failed } = await apply([good, bad], { ledger: failing })
    expect(failed).toMatchObject([
      { messageId: bad.messageId, code: 'bad_request', retryAfterMs: 0 },
      { messageId: good.messageId, code: 'storage_unavailable' },
    ])
    expect([...(await reader.failures([good.messageId, bad.messageId])).keys()]).toHaveLength(2)
    // When it comes again, the lease that the error left is over.
    await platform.clock.sleep(failed[1]!.retryAfterMs)
    expect((await apply([{ ...good, receiveCount: 2 }])).ended.applied).toBe(1)
  })

  it('names the messages that failed also when why can not be kept', async () => {
    const { apply, ledger } = workerOn(platform)
    const broken = new RetryableError('throttled', { code: 'storage_unavailable' })
    const bad = message('no json')
    const { failed } = await apply([bad], { ledger: { ...ledger, noteFailures: () => Promise.reject(broken) } })
    expect(failed).toMatchObject([{ messageId: bad.messageId, code: 'bad_request' }])
  })

  it('records entries that can not be sent as invalid, each alone, and never as 0 (JSON-07)', async () => {
    const { apply, reader } = workerOn(platform)
    const [ana, bob] = users as [string, string]
    const limits = [
      { email: ana, limit: null },
      { email: ana, limit: '' },
      { email: ana, limit: '5' },
      { email: ana, limit: -1 },
      { email: ana, limit: 1.5 },
      { email: 'not an address', limit: 5 },
      { email: null, limit: 5 },
      { email: bob, limit: 0 },
    ]
    await apply([message(intent([...limits, 'nonsense' as never]))])
    expect(outcomesOf(await allOutcomes(reader), 'request-1')).toEqual([
      ...Array(7).fill('invalid'),
      'applied',
      'invalid',
    ])
    expect(platform.puts).toEqual([[{ email: bob, limit: 0 }]])
  })

  it('names an invalid address by well-formed text, also when its cut goes through a character', async () => {
    const { apply, reader } = workerOn(platform)
    await apply([message(intent([{ email: `${'x'.repeat(299)}\u{1f600}`, limit: 5 }]))])
    const [outcome] = await allOutcomes(reader)
    expect(outcome).toMatchObject({ outcome: 'invalid', identity: `${'x'.repeat(299)}\ufffd` })
  })

  it('takes no limit that a double would round, and none above the maximum', async () => {
    const { apply, reader } = workerOn(platform, undefined, { rules: { maxLimit: 1000, maxChanges: 10 } })
    const [ana, bob] = users as [string, string]
    const body = JSON.stringify(intent({ [ana]: 7, [bob]: 1001 })).replace(':7', ':9007199254740993')
    await apply([message(body)])
    expect(outcomesOf(await allOutcomes(reader), 'request-1')).toEqual(['invalid', 'invalid'])
    expect(platform.puts).toEqual([])
  })

  it('treats spellings of one address as one person and reports different limits as a conflict (PROV-01)', async () => {
    const { apply, reader } = workerOn(platform)
    const [ana] = users as [string]
    await apply([
      message(
        intent([
          { email: 'J\u00fcrgen@x.io', limit: 1 },
          { email: 'Ju\u0308rgen@X.io', limit: 2 },
          { email: ana, limit: 3 },
          { email: ` ${ana.toUpperCase()} `, limit: 3 },
          { email: ana.replace('@', '+ci@'), limit: 4 },
        ]),
      ),
    ])
    expect(outcomesOf(await allOutcomes(reader), 'request-1')).toEqual([
      'invalid',
      'invalid',
      'applied',
      'superseded',
      'rejected',
    ])
    expect(platform.puts).toEqual([
      [
        { email: ana, limit: 3 },
        { email: ana.replace('@', '+ci@'), limit: 4 },
      ],
    ])
  })

  it('does not let a producer whose clock runs ahead outrank everybody', async () => {
    const { apply, reader } = workerOn(platform)
    const [ana] = users as [string]
    await apply([message(intent({ [ana]: 1 }, { requestedAt: '2099-01-01T00:00:00Z', requestId: 'future' }))])
    await apply([message(intent({ [ana]: 2 }, { requestId: 'now' }))])
    expect(limitOf(ana)).toBe(2)
    expect(outcomesOf(await allOutcomes(reader), 'future')).toEqual(['invalid'])
  })

  it('records who asked, the limit before, and the call that an entry went in', async () => {
    const { apply, reader } = workerOn(platform)
    const [ana] = users as [string]
    await apply([message(intent({ [ana]: 1 }, { requestId: 'r1' }))])
    await apply([message(intent({ [ana]: 2 }, { requestId: 'r2', requestedAt: at(1), requestedBy: 'hr' }))])
    const [second, first] = await reader.outcomesOf(ana)
    expect(first).toMatchObject({ previousLimit: null, limit: 1, requestedBy: 'it@example.com' })
    expect(second).toMatchObject({ previousLimit: 1, limit: 2, requestedBy: 'hr', requestId: 'r2' })
    expect(second?.apiCall).not.toBe(first?.apiCall)
  })

  it('calls an answer that says another limit unaccounted', async () => {
    const { reader, apply } = workerOn({
      clock: platform.clock,
      api: {
        ...platform.api,
        setUserCreditLimits: async (sent) => ({ updated: sent.map((u) => ({ ...u, limit: u.limit - 1 })), errors: [] }),
      },
    })
    await apply([message(intent({ 'a@x.io': 9 }))])
    const [outcome] = await reader.outcomesOf('a@x.io')
    expect(outcome).toMatchObject({ outcome: 'unaccounted' })
    expect(outcome?.reason).toContain('8')
  })

  it("keeps no more of the platform's words than a row can hold, well-formed and without control characters", async () => {
    const { reader, apply } = workerOn(platform)
    const [ana] = users as [string]
    const error = `no\u001b[2J\n${'x'.repeat(992)}\u{1f600}${'y'.repeat(100_000)}`
    platform.simulator.fault({ kind: 'limitsErrors', endpoint: 'setUserLimits', emails: [ana], error })
    await apply([message(intent({ [ana]: 9 }))])
    const [outcome] = await reader.outcomesOf(ana)
    expect(outcome).toMatchObject({ outcome: 'rejected', reason: `no [2J ${'x'.repeat(992)}\ufffd` })
  })
})
