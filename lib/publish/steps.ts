import * as z from 'zod'
import { FatalError, RetryableError } from '../core/errors.ts'
import type { Metrics } from '../core/metrics.ts'
import { withoutShard } from '../streams/shards.ts'
import { Counts, Notice, StreamStatus } from '../sync/checkpoint.ts'
import type { StreamResult } from '../sync/context.ts'
import { resultOfShards } from '../sync/shard-results.ts'
import { behindText } from './behind.ts'
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
  const message = errorMessageIn(error.Cause)
  const reason = message === '' ? error.Error : `${error.Error}: ${message}`
  return { stream, runId, status: 'failed', reason, retryAfterMs: null, counts: null }
}

/**
 * The results of the streams that a run read in shards: `shards` are the names of those that it was to read. One of which
 * nothing is told ended with its execution. `noticesOf` gives what is to be said about a shard.
 */
export function resultsOfShards(
  { shards, shardOutcomes }: { shards: readonly string[]; shardOutcomes: readonly StepOutcome[] },
  runId: string,
  noticesOf: ReadonlyMap<string, Notice[]> = new Map(),
): StreamResult[] {
  const told = new Map(shardOutcomes.map((outcome) => [outcome.stream, resultOfSteps(outcome, runId)]))
  const results = shards.map((stream): StreamResult => {
    const reason = 'its execution did not come to an end'
    const result = told.get(stream) ?? { stream, runId, status: 'failed', reason, retryAfterMs: null, counts: null }
    return { ...result, notices: noticesOf.get(stream) ?? [] }
  })
  const families = Map.groupBy(results, ({ stream }) => withoutShard(stream))
  return [...families].map(([stream, ofStream]) => resultOfShards(stream, ofStream))
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

/**
 * Why a run counts as failed: its streams that did not come to an end, and its tables that lack something, each with its
 * reason. Null when there is none.
 */
export function failureOf({ streams, behind = [] }: RunRecord): string | null {
  const open = streams.filter(({ status }) => !endedWell.includes(status))
  const reasons = [
    ...open.map(({ stream, status, reason }) => `${stream} ${status}${reason ? `: ${reason}` : ''}`),
    ...behind.map(behindText),
  ]
  return reasons.length === 0 ? null : reasons.join('\n')
}

/** Emits how a run ended: 1 when every stream is complete and in its tables, else 0. */
export function emitRunMetrics({ status, behind = [] }: RunRecord, schedule: string, metrics: Metrics): void {
  metrics.count('RunComplete', status === 'complete' && behind.length === 0 ? 1 : 0, { schedule })
}

/**
 * Another run took over publishing: the end of this attempt, and no reason to make no other one.
 * @throws RetryableError in that case, and else what was thrown.
 */
export function laterIfOvertaken(error: unknown): never {
  if (!(error instanceof FatalError) || error.code !== 'lease_lost') throw error
  throw new RetryableError(error.message, { code: 'storage_unavailable', cause: error })
}
