import type { Clock } from '../core/clock.ts'
import { RetryableError } from '../core/errors.ts'

/** How to wait between attempts: `random` yields numbers from 0 up to, not including, 1. */
export type Backoff = { clock: Clock; random: () => number }

const attempts = 8
const baseMs = 50
const capMs = 5_000

/**
 * Sends work until nothing is left of it. DynamoDB answers a batch with 200 and the part it did not do; that part is
 * sent again after a wait that doubles, with full jitter.
 * @throws RetryableError when something is left after the last attempt.
 */
export const untilDone = async <T>(
  work: T[],
  {
    clock,
    random,
    what,
    signal,
    send,
  }: Backoff & {
    what: string
    signal?: AbortSignal | undefined
    /** Does what it can and returns the rest. */
    send: (work: T[]) => Promise<T[]>
  },
): Promise<void> => {
  let rest = work
  for (let attempt = 1; rest.length > 0; attempt++) {
    rest = await send(rest)
    if (rest.length === 0) return
    if (attempt === attempts) {
      const message = `can't ${what} now: DynamoDB left ${rest.length} of ${work.length} undone ${attempts} times`
      throw new RetryableError(`${message}. The next attempt goes on from the checkpoint`, {
        code: 'storage_unavailable',
      })
    }
    await clock.sleep(random() * Math.min(capMs, baseMs * 2 ** attempt), signal)
  }
}
