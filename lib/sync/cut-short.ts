import { RetryableError } from '../core/errors.ts'
import { defaultRetry } from '../platform/retry.ts'
import type { SyncDeps } from './context.ts'

/** Whether a request had not the time for its repetitions: it says nothing of the platform then, and the next attempt asks again. */
export function wasCutShort(error: unknown, { deadline, settings }: Pick<SyncDeps, 'deadline' | 'settings'>): boolean {
  return error instanceof RetryableError && deadline.remainingMs() < settings.marginMs + defaultRetry.totalMs
}
