import { ChangeMessageVisibilityCommand, GetQueueAttributesCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noDeadline } from '../../lib/core/deadline.ts'
import { silentLog } from '../../lib/core/log.ts'
import { applyBatch } from '../../lib/limits/apply/apply-batch.ts'
import { intentsOf, publishIntents } from '../../lib/limits/intake/publisher.ts'
import { type PolledRecord, pollOnce } from '../../lib/local/poller.ts'
import { redriveDeadLetters } from '../../lib/stores/limits-queue.ts'
import { send, useEmulatedLimits } from '../limits/emulated.ts'
import { allOf, at, intent, type Platform, startPlatform } from '../limits/fixture.ts'

const limits = useEmulatedLimits()
let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.simulator.close())
beforeEach(() => {
  platform.simulator.clearFaults()
  platform.simulator.limits.clear()
  platform.puts.length = 0
})

/** The pauses of a test: none. */
function noPauses(handles: { receiptHandle: string; pauseMs: number }[]) {
  return handles.map((one) => ({ ...one, pauseMs: 0 }))
}

function handle(records: PolledRecord[]) {
  const deps = limits().applyDeps(platform.api, noDeadline)
  return applyBatch(records, { ...deps, pauses: { set: (some) => deps.pauses.set(noPauses(some)) } })
}

function poll(handler = handle) {
  return pollOnce({ sqs: limits().sqs, queueUrl: limits().queueUrl, handle: handler, log: silentLog, waitSeconds: 0 })
}

/** Polls until nothing comes. */
async function drain() {
  let polls = 0
  while ((await poll()).received > 0) polls += 1
  return polls
}

async function depthOf(QueueUrl = '') {
  const { Attributes } = await limits().sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  )
  return Number(Attributes?.ApproximateNumberOfMessages) + Number(Attributes?.ApproximateNumberOfMessagesNotVisible)
}

/** Lets the time run out for which received messages are hidden. */
async function timeOut(records: PolledRecord[]) {
  const { sqs, queueUrl } = limits()
  for (const { receiptHandle } of records) {
    const message = { QueueUrl: queueUrl, ReceiptHandle: receiptHandle }
    await sqs.send(new ChangeMessageVisibilityCommand({ ...message, VisibilityTimeout: 0 }))
  }
}

function request(requestId: string, seconds = 0) {
  return {
    requestId,
    requestedAt: at(seconds),
    requestedBy: 'it',
    source: 't',
  }
}
function entries(from: number, to: number, limit: number) {
  return platform.users.slice(from, to).map((email) => ({ email, limit }))
}

describe('messages on their way through the queue', () => {
  it('are applied and forgotten', async () => {
    const { queue, clock, queueUrl } = limits()
    await publishIntents(intentsOf(request('all'), entries(0, 250, 7)), { queue, clock, random: Math.random })
    await drain()
    expect(platform.simulator.limits.size).toBe(250)
    expect(platform.puts.map(({ length }) => length).sort()).toEqual([100, 100, 50])
    expect(await depthOf(queueUrl)).toBe(0)
  })

  it('that can not be read go alone to the dead letters, with the reason to be found (SQS-01)', async () => {
    const { sqs, queueUrl, deadLettersUrl, reader } = limits()
    const [ana, bob] = platform.users as [string, string]
    await send(sqs, queueUrl, JSON.stringify(intent({ [ana]: 1 }, { requestId: 'q1', requestedAt: at(1) })))
    await send(sqs, queueUrl, 'no json')
    await send(sqs, queueUrl, JSON.stringify(intent({ [bob]: 2 }, { requestId: 'q2', requestedAt: at(1) })))
    expect(await poll()).toEqual({ received: 3, failed: 1 })
    expect(Object.fromEntries(platform.simulator.limits)).toEqual({ [ana]: 1, [bob]: 2 })
    await drain()
    expect(await depthOf(queueUrl)).toBe(0)
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl: deadLettersUrl ?? '', MaxNumberOfMessages: 10, VisibilityTimeout: 0 }),
    )
    expect(Messages.map(({ Body }) => Body)).toEqual(['no json'])
    const [{ MessageId = '' } = {}] = Messages
    const failure = (await reader.failures([MessageId])).get(MessageId)
    expect(failure).toMatchObject({ code: 'bad_request', receiveCount: 5 })
    expect(failure?.reason).toContain('no JSON')
    await allOf(redriveDeadLetters({ sqs, queueUrl, deadLettersUrl: deadLettersUrl ?? '' }))
    await drain()
  })

  it('become dead letters when the platform fails five times, and are applied once they are put back', async () => {
    const { sqs, queueUrl, deadLettersUrl = '', queue, clock } = limits()
    const before = await depthOf(deadLettersUrl)
    platform.simulator.fault({ kind: 'status', endpoint: 'setUserLimits', status: 503 })
    await publishIntents(intentsOf(request('five', 2), entries(0, 150, 9)), { queue, clock, random: Math.random })
    expect(await drain()).toBe(5)
    expect(platform.simulator.limits.size).toBe(0)
    expect(await depthOf(deadLettersUrl)).toBe(before + 2)
    platform.simulator.clearFaults()
    const moved = await allOf(redriveDeadLetters({ sqs, queueUrl, deadLettersUrl }))
    expect(moved.length).toBe(before + 2)
    expect(await depthOf(deadLettersUrl)).toBe(0)
    await drain()
    expect(platform.simulator.limits.size).toBe(150)
  })

  it('come again as a whole when the function throws, or names a message that was not in the batch', async () => {
    const { sqs, queueUrl } = limits()
    const [ana] = platform.users as [string]
    await send(sqs, queueUrl, JSON.stringify(intent({ [ana]: 3 }, { requestId: 'q3', requestedAt: at(3) })))
    const wrong = async () => ({ batchItemFailures: [{ itemIdentifier: '' }] })
    const failing = async () => {
      throw new Error('killed')
    }
    for (const handler of [failing, wrong]) {
      let received: PolledRecord[] = []
      const seen = (records: PolledRecord[]) => {
        received = records
        return handler()
      }
      expect(await poll(seen)).toEqual({ received: 1, failed: 1 })
      await timeOut(received)
    }
    expect(await poll()).toEqual({ received: 1, failed: 0 })
    expect(platform.simulator.limits.get(ana)).toBe(3)
  })
})
