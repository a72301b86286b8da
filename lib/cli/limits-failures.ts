import { RejectedError } from '../core/errors.ts'
import type { PublishedIntent } from '../limits/intake/publisher.ts'
import { parseIntent } from '../limits/intent.ts'
import type { LedgerReader, MessageFailure } from '../limits/ports.ts'
import { maxReceives } from '../stores/limits-queue.ts'
import { number, type Output } from './output.ts'

/** A message that failed, and why. `deadLetter`: it failed too often, so that only "limits redrive" goes on with it. */
export type FailedIntent = PublishedIntent & Pick<MessageFailure, 'at' | 'code' | 'reason'> & { deadLetter: boolean }

/** Finds those of the messages that failed, in the order in which they were sent, as the ledger knows them. */
export async function failedIntents(
  published: readonly PublishedIntent[],
  reader: Pick<LedgerReader, 'failures'>,
): Promise<FailedIntent[]> {
  const failures = await reader.failures(published.map(({ messageId }) => messageId))
  return published.flatMap((one) => {
    const failure = failures.get(one.messageId)
    if (!failure) return []
    const { at, code, reason, receiveCount } = failure
    return [{ ...one, at, code, reason, deadLetter: receiveCount >= maxReceives }]
  })
}

/** Names messages that failed with their reasons, dead letters first. */
export function sayFailedIntents(failed: readonly FailedIntent[], { io, most }: { io: Output; most: number }): void {
  const dead = failed.filter(({ deadLetter }) => deadLetter)
  const sorted = [...dead, ...failed.filter(({ deadLetter }) => !deadLetter)]
  for (const { requestId, messageId, reason, deadLetter } of sorted.slice(0, most)) {
    io.say(`${deadLetter ? 'Dead letter:' : 'Failed, and comes again:'} ${requestId} (message ${messageId}): ${reason}`)
  }
  if (sorted.length > most) io.say(`... and ${number(sorted.length - most)} more (--json shows all)`)
}

/** The request that a message holds; null when it can't be read. */
export function requestIn(body: string): string | null {
  try {
    return parseIntent(body).requestId
  } catch (error) {
    if (error instanceof RejectedError) return null
    throw error
  }
}
