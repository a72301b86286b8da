import * as z from 'zod'
import type { Clock } from '../../core/clock.ts'
import { RejectedError, type SyncError } from '../../core/errors.ts'
import { firstIssue } from '../../core/schema.ts'
import { entriesOf, type LimitRules } from '../entries.ts'
import { parseIntent } from '../intent.ts'
import type { MessageFailure } from '../ports.ts'
import type { DeliveredEntry } from './decide.ts'

/** A message in the form in which an event source mapping hands it over. */
export const QueueRecord = z.object({
  messageId: z.string().min(1),
  receiptHandle: z.string().min(1),
  body: z.string(),
  attributes: z.object({ ApproximateReceiveCount: z.coerce.number().int().min(1) }),
})
export type QueueRecord = z.infer<typeof QueueRecord>

const NamedRecord = QueueRecord.pick({ messageId: true })

/** A message as the queue hands it out. */
export type LimitMessage = { messageId: string; body: string; receiveCount: number }

/** A message that goes back to the queue, and when it is worth handing out again. */
export type FailedMessage = MessageFailure & { retryAfterMs: number }

/** A message that was understood, as entries. */
export type ReadMessage = { message: LimitMessage; entries: DeliveredEntry[] }

/** The records of a batch. `nameless`: why records without a message id, which can't be answered one by one, are no records. */
export type ReadRecords = { records: QueueRecord[]; malformed: FailedMessage[]; nameless: string[] }

/** Checks the records of a batch, each alone: one that is malformed fails alone. */
export function readRecords(batch: readonly unknown[], now: number): ReadRecords {
  const read: ReadRecords = { records: [], malformed: [], nameless: [] }
  for (const one of batch) {
    const { success, data, error } = QueueRecord.safeParse(one)
    const named = NamedRecord.safeParse(one)
    if (success) read.records.push(data)
    else if (named.success) read.malformed.push(malformed(named.data.messageId, firstIssue(error), now))
    else read.nameless.push(firstIssue(named.error))
  }
  return read
}

/** Reads messages, each alone: one that can't be read fails alone. */
export function readMessages(
  messages: readonly LimitMessage[],
  { rules, clock }: { rules: LimitRules; clock: Clock },
): { readable: ReadMessage[]; unreadable: FailedMessage[] } {
  const readable: ReadMessage[] = []
  const unreadable: FailedMessage[] = []
  const now = clock.now()
  for (const message of messages) {
    try {
      const entries = entriesOf(parseIntent(message.body), { rules, now })
      const redelivered = message.receiveCount > 1
      readable.push({ message, entries: entries.map((entry) => ({ entry, redelivered })) })
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error
      unreadable.push(failureOf(message, error, now))
    }
  }
  return { readable, unreadable }
}

const minuteMs = 60_000

/**
 * The reason why a message failed, and when to try again: a bad message soon, so that it leaves the way of the others; a
 * platform in trouble with growing pauses; a credential that somebody must mend after a quarter of an hour.
 */
export function failureOf(
  { messageId, receiveCount }: Pick<LimitMessage, 'messageId' | 'receiveCount'>,
  error: SyncError,
  now: number,
): FailedMessage {
  const wait =
    error.action === 'reject' ? 0 : error.action === 'stop' ? 15 * minuteMs : 15_000 * 2 ** Math.min(receiveCount, 6)
  return {
    messageId,
    receiveCount,
    at: new Date(now).toISOString(),
    code: error.code,
    reason: error.message,
    retryAfterMs: Math.max(error.retryAfterMs ?? 0, wait),
  }
}

function malformed(messageId: string, issue: string, now: number): FailedMessage {
  const why = `The record of a message with credit limits is not what a queue hands over: ${issue}.`
  const advice = 'Invoke the function through its event source mapping.'
  return failureOf({ messageId, receiveCount: 1 }, new RejectedError(`${why} ${advice}`, { code: 'bad_request' }), now)
}
