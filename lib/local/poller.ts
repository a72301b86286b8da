import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { messageOf } from '../core/errors.ts'
import type { Log } from '../core/log.ts'

/** A message in the form that Lambda hands to a function. */
export type PolledRecord = {
  messageId: string
  receiptHandle: string
  body: string
  attributes: { ApproximateReceiveCount: string }
}

/** What an event source mapping is told. */
export type PollerDeps = {
  sqs: SQSClient
  queueUrl: string
  /** The function; it is called with one batch at a time, as for one message group. */
  handle: (records: PolledRecord[]) => Promise<{ batchItemFailures: { itemIdentifier: string }[] }>
  log: Log
  /** Messages per batch, at most 10. */
  batchSize?: number
  /** How long one receive waits for a message; 1 s unless said otherwise. */
  waitSeconds?: number
  signal?: AbortSignal
}

/** What one poll did. */
export type Polled = { received: number; failed: number }

/**
 * One turn of Lambda's event source mapping: receive, call the function, delete what it did not report as failed. A
 * function that throws, or reports an id that was not in the batch, failed with all of it. Failed messages stay hidden
 * until their visibility timeout ends, and the queue's redrive policy counts the receives.
 */
export async function pollOnce(deps: PollerDeps): Promise<Polled> {
  const { sqs, queueUrl, batchSize = 10, waitSeconds = 1 } = deps
  const received = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: batchSize,
      WaitTimeSeconds: waitSeconds,
      MessageSystemAttributeNames: ['ApproximateReceiveCount'],
    }),
    deps.signal ? { abortSignal: deps.signal } : {},
  )
  const records = (received.Messages ?? []).map(recordOf)
  if (records.length === 0) return { received: 0, failed: 0 }
  const failed = await failuresOf(records, deps)
  const done = records.filter(({ messageId }) => !failed.has(messageId))
  if (done.length > 0) {
    const Entries = done.map(({ receiptHandle }, i) => ({ Id: String(i), ReceiptHandle: receiptHandle }))
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }))
  }
  return { received: records.length, failed: failed.size }
}

async function failuresOf(records: PolledRecord[], { handle, log }: PollerDeps): Promise<Set<string>> {
  const all = new Set(records.map(({ messageId }) => messageId))
  try {
    const { batchItemFailures } = await handle(records)
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
    if ([...failed].every((id) => all.has(id))) return failed
    log.error('The function reported a message that was not in its batch; the whole batch counts as failed.')
  } catch (error) {
    log.error('The function failed; the whole batch goes back to the queue.', { reason: messageOf(error) })
  }
  return all
}

function recordOf({ MessageId = '', ReceiptHandle = '', Body = '', Attributes }: Message): PolledRecord {
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: { ApproximateReceiveCount: Attributes?.ApproximateReceiveCount ?? '1' },
  }
}
