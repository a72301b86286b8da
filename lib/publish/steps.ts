import * as z from 'zod'
import { FatalError, RetryableError } from '../core/errors.ts'
import type { Metrics } from '../core/metrics.ts'
import { Counts, Notice, StreamStatus } from '../sync/checkpoint.ts'
import type { StreamResult } from '../sync/context.ts'
import type { RunRecord } from './manifest.ts'

const Ended = z.object({
  stream: z.string(),
  runId: z.string(),
  status: StreamStatus,
  reason: z.string().nullable(),
  retryAfterMs: z.number().nullable(),
  counts: Counts.nullable(),
  ofRun: Counts.nullish(),
  notices: z.array(Notice).optional(),
})

const Died = z.object({
  stream: z.string(),
  error: z.object({ Error: z.string(), Cause: z.string().default('') }).describe('As Step Functions catches it.'),
})

/** How a stream's steps ended: the last attempt's result, or the death of the function. */
export const StepOutcome = z.union([Ended, Died])
export type StepOutcome = z.infer<typeof StepOutcome>

/** The stream's result for the record of a run. A function that died left no counts; its reason is the error's text. */
export function resultOfSteps(outcome: StepOutcome, runId: string): StreamResult {
  if ('status' in outcome) return outcome
  const { stream, error } = outcome
  const reason = `${error.Error}: ${errorMessageIn(error.Cause)}`
  return { stream, runId, status: 'failed', reason, retryAfterMs: null, counts: null }
}

const Cause = z.object({ errorMessage: z.string() })

/** Lambda gives the cause as JSON with `errorMessage`; what is no such JSON is the message itself. */
function errorMessageIn(cause: string): string {
  try {
    return Cause.parse(JSON.parse(cause)).errorMessage
  } catch {
    return cause
  }
}

const endedWell: readonly StreamStatus[] = ['complete', 'suspect', 'skipped']

/** Why a run counts as failed: its streams that did not come to an end, each with its reason. Null when there is none. */
export function failureOf({ streams }: RunRecord): string | null {
  const open = streams.filter(({ status }) => !endedWell.includes(status))
  return open.length === 0
    ? null
    : open.map(({ stream, status, reason }) => `${stream} ${status}${reason ? `: ${reason}` : ''}`).join('\n')
}

/** Emits how a run ended: 1 when every stream is complete, else 0. */
export function emitRunMetrics({ status }: RunRecord, schedule: string, metrics: Metrics): void {
  metrics.count('RunComplete', status === 'complete' ? 1 : 0, { schedule })
}

/**
 * Another run took over publishing: the end of this attempt, and no reason to make no other one.
 * @throws RetryableError in that case, and else what was thrown.
 */
export function laterIfOvertaken(error: unknown): never {
  if (!(error instanceof FatalError) || error.code !== 'lease_lost') throw error
  throw new RetryableError(error.message, { code: 'storage_unavailable', cause: error })
}
