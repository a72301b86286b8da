import type { Clock } from '../core/clock.ts'
import { RetryableError } from '../core/errors.ts'
import { type CallContext, storageError } from './aws-errors.ts'

/** How to wait between attempts: `random` yields numbers from 0 up to, not including, 1. */
export type Backoff = { clock: Clock; random: () => number }

const attempts = 8
const baseMs = 50
const capMs = 5_000

/**
 * Sends work until nothing is left of it. DynamoDB answers a batch with 200 and the part it did not do; that part, or
 * all of it after throttling and trouble of the service, is sent again after a wait that doubles, with full jitter.
 * @throws RetryableError when something is left after the last attempt.
 */
export async function untilDone<T>(
  work: T[],
  /** Does what it can and returns the rest. */
  send: (work: T[]) => Promise<T[]>,
  { clock, random, ...context }: Backoff & CallContext,
): Promise<void> {
  let rest = work
  let cause: unknown
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await clock.sleep(random() * Math.min(capMs, baseMs * 2 ** attempt), context.signal)
    try {
      rest = await send(rest)
      if (rest.length === 0) return
    } catch (error) {
      cause = storageError(error, context)
      if (!(cause instanceof RetryableError)) throw cause
    }
  }
  const message = `can't ${context.what} now: DynamoDB left ${rest.length} of ${work.length} undone ${attempts} times`
  const advice = 'The next attempt goes on from the checkpoint'
  throw new RetryableError(`${message}. ${advice}`, { code: 'storage_unavailable', cause })
}
