import pRetry from 'p-retry'
import type { Clock } from '../core/clock.ts'
import { RetryableError } from '../core/errors.ts'

/** How a request is repeated. */
export type RetrySettings = {
  /** Requests in all, the first one included. */
  readonly maxAttempts: number
  /** The least wait before a repetition; it doubles with each one, plus up to as much again by chance. */
  readonly baseDelayMs: number
  /** Time for all attempts and waits of one call. */
  readonly totalMs: number
}

/** Five attempts in a minute at most, half a second and more between them. */
export const defaultRetry: RetrySettings = { maxAttempts: 5, baseDelayMs: 500, totalMs: 60_000 }

type RetryDeps = {
  clock: Clock
  random: () => number
  settings: RetrySettings
  signal: AbortSignal | undefined
  /** What is left of the call's time, in milliseconds. */
  remainingMs: () => number
  /** Whether this request may be sent again after this error. */
  mayRepeat: (error: RetryableError) => boolean
  onRetry: (error: RetryableError, attempt: number, waitMs: number) => void
}

/**
 * Repeats what fails with `RetryableError`. A wait that does not fit into the remaining time is not begun: the error
 * goes to the caller with `retryAfterMs`. p-retry counts; the waiting is ours, since its timer knows no clock but its own.
 */
export function withRetries<T>(attempt: () => Promise<T>, deps: RetryDeps): Promise<T> {
  const { clock, settings, signal } = deps
  return pRetry(attempt, {
    retries: settings.maxAttempts - 1,
    minTimeout: 0,
    ...(signal ? { signal } : {}),
    shouldRetry: async ({ error, attemptNumber }) => {
      if (!(error instanceof RetryableError) || !deps.mayRepeat(error)) return false
      const waitMs = waitBefore(error, attemptNumber, deps)
      if (waitMs >= deps.remainingMs()) throw postponed(error, waitMs)
      deps.onRetry(error, attemptNumber, waitMs)
      await clock.sleep(waitMs, signal)
      return true
    },
  })
}

function waitBefore(error: RetryableError, attempt: number, { settings, random }: RetryDeps): number {
  return error.retryAfterMs === undefined
    ? Math.round(settings.baseDelayMs * 2 ** (attempt - 1) * (1 + random()))
    : Math.max(settings.baseDelayMs, error.retryAfterMs)
}

function postponed(error: RetryableError, retryAfterMs: number): RetryableError {
  return new RetryableError(
    `${error.message} The next attempt would be in ${Math.ceil(retryAfterMs / 1000)} s, too late.`,
    {
      code: error.code,
      cause: error,
      retryAfterMs,
      ...(error.status === undefined ? {} : { status: error.status }),
    },
  )
}

const httpDate = /^(mon|tue|wed|thu|fri|sat|sun)[a-z]*, .* gmt$/i

/**
 * The wait that a Retry-After header asks for, in milliseconds: whole seconds, or an HTTP-date against our clock.
 * Undefined for anything else and for what has passed, so that the normal backoff applies. (Date.parse alone reads
 * "1.5" and "-3" as years.)
 */
export function retryAfterOf(header: string | null, nowMs: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const waitMs = httpDate.test(text) ? Date.parse(text) - nowMs : Number.NaN
  return waitMs > 0 ? waitMs : undefined
}
