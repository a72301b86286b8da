import { FatalError, messageOf } from '../../core/errors.ts'
import type { MessagePauses } from '../ports.ts'
import { type ApplyDeps, applyMessages } from './apply.ts'
import { type FailedMessage, type QueueRecord, readRecords } from './messages.ts'

/** The partial batch response: exactly the messages that must come again. */
export type BatchResponse = { batchItemFailures: { itemIdentifier: string }[] }

/** Dependencies of `applyBatch`. */
export type BatchDeps = ApplyDeps & { pauses: MessagePauses }

/**
 * Applies the messages of one batch and answers which of them failed. A record that is malformed fails alone.
 * @throws FatalError `bad_request`, after the others were applied, when a record has no id: it could not be named in the
 * answer, and would be forgotten. The whole batch comes again then, which applies nothing twice.
 */
export async function applyBatch(batch: readonly unknown[], deps: BatchDeps): Promise<BatchResponse> {
  const { records, malformed, nameless } = readRecords(batch, deps.clock.now())
  const messages = records.map(({ messageId, body, attributes }) => ({
    ...{ messageId, body },
    receiveCount: attributes.ApproximateReceiveCount,
  }))
  const { failed } = await applyMessages(messages, deps, malformed)
  await setPauses(failed, records, deps)
  if (nameless.length > 0) throw withoutId(nameless)
  return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) }
}

/** Sets when failed messages come again. Without it they come after the queue's own timeout: later, but they come. */
async function setPauses(
  failed: readonly FailedMessage[],
  records: readonly QueueRecord[],
  { pauses, log }: BatchDeps,
): Promise<void> {
  const handles = new Map(records.map(({ messageId, receiptHandle }) => [messageId, receiptHandle]))
  const wanted = failed.flatMap(({ messageId, retryAfterMs }) => {
    const receiptHandle = handles.get(messageId)
    return receiptHandle === undefined ? [] : [{ receiptHandle, pauseMs: retryAfterMs }]
  })
  await pauses.set(wanted).catch((error: unknown) => {
    log.warn('When failed messages come again could not be set.', { reason: messageOf(error) })
  })
}

function withoutId(issues: readonly string[]) {
  const what = `${issues.length} of the batch's records are not what a queue hands over (${issues[0]})`
  return new FatalError(`${what}: invoke the function through its event source mapping.`, { code: 'bad_request' })
}
