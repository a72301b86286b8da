import { describe, expect, it } from 'vitest'
import { batchesOf, intentsOf, publishIntents } from '../../../lib/limits/intake/publisher.ts'
import { parseIntent } from '../../../lib/limits/intent.ts'
import type { IntentQueue, OutgoingMessage } from '../../../lib/limits/ports.ts'
import { fakeClock } from '../../platform/fixture.ts'
import { at } from '../fixture.ts'

const request = { requestId: 'r', requestedAt: at(0), requestedBy: 'it', source: 'test' }
function entries(count: number) {
  return Array.from({ length: count }, (_, i) => ({ email: `u${i}@x.io`, limit: i }))
}

/** A queue that does not take a message the first so many times. */
function queueOf(refusals: Record<string, number> = {}, senderFault = false) {
  const sent: OutgoingMessage[][] = []
  const left = { ...refusals }
  const queue: IntentQueue = {
    sendBatch: async (messages) => {
      sent.push(messages)
      const refused = messages.flatMap(({ id, body }) => {
        const name = parseIntent(body).requestId
        if (!left[name]) return []
        left[name] -= 1
        return [{ id, code: 'InternalError', senderFault }]
      })
      const taken = messages.filter(({ id }) => !refused.some((one) => one.id === id))
      return { taken: taken.map(({ id, body }) => ({ id, messageId: `m-${parseIntent(body).requestId}` })), refused }
    },
  }
  return { queue, sent, deps: { queue, clock: fakeClock(), random: () => 0 } }
}

function names(batch: OutgoingMessage[] = []) {
  return batch.map(({ body }) => parseIntent(body).requestId)
}

describe('publishing limits', () => {
  it('cuts a request into intents of at most 100 entries, always the same way', () => {
    const intents = intentsOf(request, entries(250))
    expect(intents.map(({ limits }) => limits.length)).toEqual([100, 100, 50])
    expect(intents.map(({ requestId }) => requestId)).toEqual(['r.0001', 'r.0002', 'r.0003'])
    expect(intentsOf(request, entries(250))).toEqual(intents)
    expect(intents.flatMap(({ limits }) => limits)).toEqual(entries(250))
    expect(intentsOf(request, [])).toEqual([])
  })

  it('sends all messages in one group, with an id by which the queue knows a repetition', async () => {
    const { sent, deps } = queueOf()
    await publishIntents(intentsOf(request, entries(250)), deps)
    await publishIntents(intentsOf(request, entries(250)), deps)
    const [first, second] = sent as [OutgoingMessage[], OutgoingMessage[]]
    expect(new Set(first.map(({ groupId }) => groupId)).size).toBe(1)
    expect(second.map(({ deduplicationId }) => deduplicationId)).toEqual(
      first.map(({ deduplicationId }) => deduplicationId),
    )
    expect(new Set(first.map(({ deduplicationId }) => deduplicationId)).size).toBe(3)
  })

  it('cuts batches by count and by bytes, counting those of letters beyond ASCII (SQS-05)', () => {
    const message = (id: number, bytes: number) => ({
      id: `${id}`,
      body: 'é'.repeat(bytes / 2),
      groupId: 'g',
      deduplicationId: `${id}`,
    })
    const large = batchesOf(Array.from({ length: 10 }, (_, i) => message(i, 120 * 1024)))
    expect(large.map((batch) => batch.length)).toEqual([2, 2, 2, 2, 2])
    const small = batchesOf(Array.from({ length: 25 }, (_, i) => message(i, 100)))
    expect(small.map((batch) => batch.length)).toEqual([10, 10, 5])
  })

  it('cuts an intent that would not fit a message', () => {
    const wide = Array.from({ length: 100 }, (_, i) => ({ email: `${'é'.repeat(800)}${i}@x.io`, limit: i }))
    const intents = intentsOf(request, wide)
    expect(intents.length).toBeGreaterThan(1)
    expect(intents.flatMap(({ limits }) => limits)).toEqual(wide)
    for (const intent of intents) expect(Buffer.byteLength(JSON.stringify(intent))).toBeLessThan(256 * 1024)
  })

  it('escapes what a queue refuses in a text, and the other side reads it unchanged (SQS-14)', async () => {
    const odd = '\ufffe\uffff\u0007\u007f\u{1f600}\u{1ffff}\u{10ffff}\ue000"\\'
    const { sent, deps } = queueOf()
    const [email, limits] = [`${odd.slice(0, 2)}a@x.io`, 5]
    const asked = { ...request, requestedBy: odd, source: `list${odd}.csv` }
    await publishIntents(intentsOf(asked, [{ email, limit: limits }]), deps)
    const [[{ body }]] = sent as [[OutgoingMessage]]
    expect(body).not.toMatch(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/)
    expect(parseIntent(body)).toMatchObject({ requestedBy: odd, source: `list${odd}.csv`, limits: [{ email }] })
  })

  it('names each message as the queue does', async () => {
    const { deps } = queueOf({ 'r.0002': 1 })
    expect(await publishIntents(intentsOf(request, entries(150)), deps)).toEqual([
      { requestId: 'r.0001', messageId: 'm-r.0001' },
      { requestId: 'r.0002', messageId: 'm-r.0002' },
    ])
  })

  it('sends again only what a batch left behind (SQS-05)', async () => {
    const { sent, deps } = queueOf({ 'r.0003': 2 })
    await publishIntents(intentsOf(request, entries(500)), deps)
    expect(sent.map(names)).toEqual([['r.0001', 'r.0002', 'r.0003', 'r.0004', 'r.0005'], ['r.0003'], ['r.0003']])
    expect(deps.clock.sleeps.length).toBe(2)
  })

  it('says so when the queue does not take a message', async () => {
    const { deps } = queueOf({ 'r.0002': 99 })
    await expect(publishIntents(intentsOf(request, entries(150)), deps)).rejects.toMatchObject({ action: 'retry' })
    const never = queueOf({ 'r.0002': 99 }, true)
    await expect(publishIntents(intentsOf(request, entries(150)), never.deps)).rejects.toMatchObject({ action: 'stop' })
    expect(never.sent.length).toBe(1)
  })
})
