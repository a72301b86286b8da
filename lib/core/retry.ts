import pRetry, { AbortError } from 'p-retry'
import type { Clock } from './clock.ts'
import { RetryableError } from './errors.ts'
import type { Patience } from './patience.ts'

/** How something is repeated. */
export type RetryOptions = {
  /** Attempts in all, the first one included. */
  attempts: number
  /** The waits between attempts; without them the next attempt follows at once. */
  waits?: Waits
  /** Ends a wait, and all attempts after it, as soon as it aborts; the caller gets its reason. */
  signal?: AbortSignal | undefined
  /** Hears of each failed attempt that another one follows. */
  onRetry?: (failure: RetryableError, attempt: number, waitMs: number) => void
}

/** How long the waits are. */
export type Waits = {
  clock: Clock
  /** The wait after an attempt, counted from 1, whose failure does not say itself how long (`retryAfterMs`). */
  afterMs: (attempt: number) => number
  /** No wait is shorter, whoever says so. */
  leastMs?: number
  /** What is left of the caller's time. A wait that does not fit in is not begun. */
  remainingMs?: () => number
  /** What is left for waits that failures dictate (`retryAfterMs`). One that does not fit in is not begun. */
  patience?: Patience | undefined
}

/** What waits that chance shortens need. `random` yields numbers from 0 up to, not including, 1. */
export type Jitter = { clock: Clock; random: () => number }

/**
 * Waits with full jitter: anything up to `baseMs` after the first attempt, up to twice as much after each further one,
 * and never above `capMs`. Callers that failed together then do not come again together.
 */
export function fullJitter(
  { clock, random }: Jitter,
  { baseMs, capMs }: { baseMs: number; capMs: number },
): Pick<Waits, 'clock' | 'afterMs'> {
  return { clock, afterMs: (attempt) => Math.round(random() * Math.min(capMs, baseMs * 2 ** (attempt - 1))) }
}

/**
 * Makes attempts until one has a result. An attempt returns a `RetryableError` when another one may help. What it throws
 * goes to the caller at once: the errors of an inner layer, which made its own attempts, are not multiplied by this one's.
 * @throws the failure of the last attempt, with `retryAfterMs` when the wait after it does not fit into the time left.
 */
export function retry<T>(attempt: () => Promise<T | RetryableError>, options: RetryOptions): Promise<T> {
  const { attempts, waits, signal } = options
  return pRetry(() => resultOf(attempt), {
    retries: attempts - 1,
    minTimeout: 0,
    ...(signal ? { signal } : {}),
    // The wait is here and not in p-retry's timer, which takes no clock and no server's word (docs/decisions/retry.md).
    onFailedAttempt: async ({ error, attemptNumber, retriesLeft }) => {
      if (retriesLeft === 0 || !(error instanceof RetryableError)) return
      const waitMs = waits ? waitAfter(error, attemptNumber, waits) : 0
      options.onRetry?.(error, attemptNumber, waitMs)
      if (waits) await sleepUnless(signal, waits.clock, waitMs)
    },
  })
}

async function resultOf<T>(attempt: () => Promise<T | RetryableError>): Promise<T> {
  let result: T | RetryableError
  try {
    result = await attempt()
  } catch (error) {
    throw new AbortError(error instanceof Error ? error : String(error))
  }
  if (result instanceof RetryableError) throw result
  return result
}

function waitAfter(failure: RetryableError, attempt: number, waits: Waits): number {
  const { afterMs, leastMs = 0, remainingMs, patience } = waits
  const waitMs = Math.max(leastMs, failure.retryAfterMs ?? afterMs(attempt))
  if (remainingMs && waitMs >= remainingMs()) throw postponed(failure, waitMs)
  if (patience && failure.retryAfterMs !== undefined) {
    if (waitMs > patience.remainingMs()) throw postponed(failure, waitMs)
    patience.spend(waitMs)
  }
  return waitMs
}

/** Sleeps on a clock, which may reject with an error of its own; the caller is to hear why it was told to stop. */
export async function sleepUnless(signal: AbortSignal | undefined, clock: Clock, ms: number): Promise<void> {
  try {
    await clock.sleep(ms, signal)
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

function postponed(failure: RetryableError, retryAfterMs: number): RetryableError {
  const { message, code, status } = failure
  return new RetryableError(`${message} The next attempt would be in ${Math.ceil(retryAfterMs / 1000)} s, too late.`, {
    code,
    cause: failure,
    retryAfterMs,
    ...(status === undefined ? {} : { status }),
  })
}
