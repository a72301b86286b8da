import type { Clock } from '../../core/clock.ts'
import { RejectedError, type SyncError } from '../../core/errors.ts'
import { entriesOf } from '../entries.ts'
import { parseIntent } from '../intent.ts'
import type { MessageFailure } from '../ports.ts'
import type { LimitRules } from '../rules.ts'
import type { Delivery } from './decide.ts'

/** A message as the queue hands it out. */
export type LimitMessage = { messageId: string; body: string; receiveCount: number }

/** A message that goes back to the queue, and when it is worth handing out again. */
export type FailedMessage = MessageFailure & { retryAfterMs: number }

/** A message that was understood, as entries. */
export type ReadMessage = { message: LimitMessage; deliveries: Delivery[] }

/** Reads messages, each alone: one that can't be read fails alone. */
export function readMessages(
  messages: readonly LimitMessage[],
  { rules, clock }: { rules: LimitRules; clock: Clock },
): { readable: ReadMessage[]; poison: FailedMessage[] } {
  const readable: ReadMessage[] = []
  const poison: FailedMessage[] = []
  const now = clock.now()
  for (const message of messages) {
    try {
      const entries = entriesOf(parseIntent(message.body), { rules, now })
      const redelivered = message.receiveCount > 1
      readable.push({ message, deliveries: entries.map((entry) => ({ entry, redelivered })) })
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error
      poison.push(failureOf(message, error, now))
    }
  }
  return { readable, poison }
}

const minuteMs = 60_000

/**
 * Why a message failed, and when to try again: a bad message soon, so that it leaves the way of the others; a platform in
 * trouble with growing pauses; a credential that somebody must mend after a quarter of an hour.
 */
export function failureOf(message: LimitMessage, error: SyncError, now: number): FailedMessage {
  const { messageId, receiveCount } = message
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
