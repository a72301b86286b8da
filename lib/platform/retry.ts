import { FatalError, RetryableError } from '../core/errors.ts'
import type { Patience } from '../core/patience.ts'
import { fullJitter, type Jitter, type RetryOptions, retry } from '../core/retry.ts'

/** How a request is repeated. */
export type RetrySettings = {
  /** Requests in all, the first one included. */
  readonly maxAttempts: number
  /** The least wait before a repetition. Chance makes it up to twice as long at first, and doubles that with each one. */
  readonly baseDelayMs: number
  /** Time for all attempts and waits of one call. */
  readonly totalMs: number
}

/** Five attempts in a minute at most, half a second and more between them. */
export const defaultRetry: RetrySettings = { maxAttempts: 5, baseDelayMs: 500, totalMs: 60_000 }

/** A request as far as its repetition goes. */
type Repetition = Jitter &
  Pick<RetryOptions, 'signal' | 'onRetry'> & {
    method: string
    settings: RetrySettings
    /** What is left of the call's time, in milliseconds. */
    remainingMs: () => number
    /** What is left for waits that the platform dictates, where the caller has a budget for them. */
    patience?: Patience | undefined
  }

/** Sends a request again while that may help and can't do its work twice. */
export function sendRepeatedly<T>(send: () => Promise<T>, repetition: Repetition): Promise<T> {
  const { method, settings, remainingMs, patience, signal, onRetry } = repetition
  const { maxAttempts, baseDelayMs, totalMs } = settings
  const growth = { baseMs: 2 * baseDelayMs, capMs: totalMs }
  return retry(() => send().catch((error: unknown) => repeatable(error, method)), {
    attempts: maxAttempts,
    waits: { ...fullJitter(repetition, growth), leastMs: baseDelayMs, remainingMs, patience },
    signal,
    ...(onRetry ? { onRetry } : {}),
  })
}

// A POST creates something. Once it may have reached the platform, a lost answer does not say whether it did its work,
// and the API has no idempotency key: repeating it could create a second session or send a message twice. What was rate
// limited or never got a connection did nothing. GETs read, and PUT and PATCH write a state that a repetition leaves as it is.
function repeatable(error: unknown, method: string): RetryableError {
  if (!(error instanceof RetryableError)) throw error
  if (method !== 'POST' || wasNotTaken(error)) return error
  throw unknownOutcome(error)
}

/** To whoever reads it, a retryable error says: send it again. */
function unknownOutcome(cause: RetryableError): FatalError {
  const { status, message } = cause
  return new FatalError(
    `Whether the platform did what it was asked for is not known, and it was not asked again, so as not to do it twice: ${message} ` +
      'Look first whether what was to be created is there.',
    { code: 'outcome_unknown', cause, ...(status === undefined ? {} : { status }) },
  )
}

function wasNotTaken({ code, status = 0, cause }: RetryableError): boolean {
  // A server that has trouble of its own may have done the work before it said when to come back.
  const wasRefused = code === 'rate_limited' && status < 500
  return wasRefused || neverConnected.has((cause as NodeJS.ErrnoException | undefined)?.code ?? '')
}

const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])
