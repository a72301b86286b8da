import { messageOf } from '../../core/errors.ts'
import type { Pauses } from '../../stores/limits-queue.ts'
import { type ApplyDeps, applyMessages } from './apply.ts'

/** What an event source mapping hands over of a message. */
export type QueueRecord = {
  messageId: string
  receiptHandle: string
  body: string
  attributes: { ApproximateReceiveCount: string }
}

/** The partial batch response: exactly the messages that must come again. */
export type BatchResponse = { batchItemFailures: { itemIdentifier: string }[] }

/** Applies the messages of one batch and answers which of them failed. */
export async function applyBatch(
  records: readonly QueueRecord[],
  deps: ApplyDeps & { pauses: Pauses },
): Promise<BatchResponse> {
  const messages = records.map(({ messageId, body, attributes }) => ({
    messageId,
    body,
    receiveCount: Number(attributes.ApproximateReceiveCount) || 1,
  }))
  const { failed } = await applyMessages(messages, deps)
  const handles = new Map(records.map(({ messageId, receiptHandle }) => [messageId, receiptHandle]))
  const pauses = failed.map(({ messageId, retryAfterMs }) => ({
    receiptHandle: handles.get(messageId)!,
    pauseMs: retryAfterMs,
  }))
  // Without it they come after the queue's own timeout: later, but they come.
  await deps.pauses.set(pauses).catch((error: unknown) => {
    deps.log.warn('When failed messages come again could not be set.', { reason: messageOf(error) })
  })
  return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) }
}
