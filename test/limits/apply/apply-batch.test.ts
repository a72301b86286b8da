import { describe, expect, it } from 'vitest'
import { applyBatch } from '../../../lib/limits/apply/apply-batch.ts'
import { defaultRules } from '../../../lib/limits/entries.ts'
import { createLedger, createLedgerReader } from '../../../lib/stores/ledger.ts'
import { intent, newOwner, usePlatform } from '../fixture.ts'
import { memoryParts } from '../memory.ts'

const platform = await usePlatform()
const [ana] = platform.users as [string]

let records = 0
function record(body: unknown, fields: Record<string, unknown> = {}) {
  const messageId = `m-${++records}`
  const attributes = { ApproximateReceiveCount: '1' }
  return { messageId, receiptHandle: `handle of ${messageId}`, body: JSON.stringify(body), attributes, ...fields }
}

function setUp() {
  const { api, clock } = platform
  const parts = memoryParts(clock)
  const pauses: { receiptHandle: string; pauseMs: number }[] = []
  const lines: string[] = []
  const counts = new Map<string, number>()
  const line = (message: string) => void lines.push(message)
  const deps = {
    ...{ api, clock, newOwner, rules: defaultRules },
    ledger: createLedger(parts),
    deadline: { remainingMs: () => 60_000 },
    log: { debug: line, info: line, warn: line, error: line },
    metrics: { count: (name: string, value: number) => void counts.set(name, value) },
    pauses: { set: async (some: typeof pauses) => void pauses.push(...some) },
  }
  return { deps, pauses, lines, counts, reader: createLedgerReader(parts) }
}

describe('a batch of the queue', () => {
  it('answers with the messages that failed, and sets when each comes again', async () => {
    const { deps, pauses } = setUp()
    const [good, bad] = [record(intent({ [ana]: 5 })), record('no intent')]
    expect(await applyBatch([good, bad], deps)).toEqual({ batchItemFailures: [{ itemIdentifier: bad.messageId }] })
    expect(pauses).toEqual([{ receiptHandle: bad.receiptHandle, pauseMs: 0 }])
    expect(platform.simulator.limits.get(ana)).toBe(5)
  })

  it('has a message of a later form fail alone, out of the way of the others at once, and keeps why', async () => {
    const { deps, pauses, reader } = setUp()
    const later = record({ ...intent({ [ana]: 7 }), version: 2 })
    const answer = await applyBatch([later, record(intent({ [ana]: 5 }))], deps)
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: later.messageId }] })
    expect(pauses).toEqual([{ receiptHandle: later.receiptHandle, pauseMs: 0 }])
    expect(platform.simulator.limits.get(ana)).toBe(5)
    expect((await reader.failures([later.messageId])).get(later.messageId)).toMatchObject({
      code: 'configuration',
      reason: expect.stringMatching(
        /message .* later version .*form 2; form 1 is known here.*Deploy that version again/,
      ),
    })
  })

  it.each([
    ['body', { body: 7 }],
    ['receiptHandle', { receiptHandle: undefined }],
    ['attributes.ApproximateReceiveCount', { attributes: { ApproximateReceiveCount: 'often' } }],
    ['attributes', { attributes: null }],
  ])('fails a record whose %s is malformed alone, and keeps why', async (field, malformed) => {
    const { deps, counts, reader } = setUp()
    const bad = record(intent({ [ana]: 6 }, { requestId: 'bad' }), malformed)
    const batch = [bad, record(intent({ [ana]: 5 }, { requestId: 'good' }))]
    expect(await applyBatch(batch, deps)).toEqual({ batchItemFailures: [{ itemIdentifier: bad.messageId }] })
    expect(platform.simulator.limits.get(ana)).toBe(5)
    const failure = (await reader.failures([bad.messageId])).get(bad.messageId)
    expect(failure).toMatchObject({ code: 'bad_request', reason: expect.stringContaining(`: ${field}: `) })
    expect(counts.get('LimitMessagesFailed')).toBe(1)
  })

  it.each([[{ messageId: '' }], [{ messageId: undefined }]])(
    'comes again as a whole when a record has no id (%j), after the others were applied',
    async (nameless) => {
      const { deps, reader } = setUp()
      const batch = [record(intent({ [ana]: 6 }), nameless), record(intent({ [ana]: 5 }))]
      await expect(applyBatch(batch, deps)).rejects.toMatchObject({
        code: 'bad_request',
        message: expect.stringContaining('messageId'),
      })
      expect((await reader.outcomesOf(ana)).map(({ limit, outcome }) => [limit, outcome])).toEqual([[5, 'applied']])
    },
  )

  it('answers all the same when the pauses can not be set', async () => {
    const { deps, lines } = setUp()
    const bad = record('no intent')
    const pauses = {
      set: async () => {
        throw new Error('throttled')
      },
    }
    const answer = await applyBatch([bad], { ...deps, pauses })
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: bad.messageId }] })
    expect(lines).toContain('When failed messages come again could not be set.')
  })
})
