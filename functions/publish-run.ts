import type { Context } from 'aws-lambda'
import * as z from 'zod'
import { composePublish } from '../lib/compose/publish.ts'
import { processVariables } from '../lib/core/env.ts'
import { finishRun } from '../lib/publish/finish-run.ts'
import { noticesOfShards } from '../lib/publish/shard-notices.ts'
import {
  emitRunMetrics,
  failureOf,
  laterIfOvertaken,
  resultOfSteps,
  resultsOfShards,
  StepOutcome,
} from '../lib/publish/steps.ts'
import { streamNamed } from '../lib/streams/index.ts'
import { runOf, ScheduledRun } from '../lib/sync/scheduled-run.ts'
import { readEvent } from './event.ts'
import { createTelemetry } from './telemetry.ts'

const { begin, ...telemetry } = createTelemetry()
const { finishDeps } = composePublish(processVariables(), telemetry)
const Event = ScheduledRun.extend({
  outcomes: z.array(StepOutcome),
  shards: z.array(z.string()).default([]),
  shardOutcomes: z.array(StepOutcome).default([]),
})

/**
 * Publishes what the streams of a run completed. `failure` says why the run counts as failed; null when it does not.
 * `goOn`: another call may bring tables further that are behind.
 */
export async function handler(event: unknown, context: Context) {
  begin(context)
  const { outcomes, shards, shardOutcomes, ...scheduled } = readEvent(Event, event, 'the state machine')
  const run = runOf(scheduled)
  const deps = finishDeps({ remainingMs: () => context.getRemainingTimeInMillis() })
  const whole = outcomes.map((outcome) => resultOfSteps(outcome, run.runId))
  const notices = await noticesOfShards(shards, run, deps)
  const results = [...whole, ...resultsOfShards({ shards, shardOutcomes }, run.runId, notices)]
  const streams = [...whole.map(({ stream }) => stream), ...shards].map(streamNamed)
  const { record, goOn } = await finishRun(run, { streams, results }, deps).catch(laterIfOvertaken)
  emitRunMetrics(record, scheduled.schedule, telemetry.metrics)
  return { ...record, failure: failureOf(record), goOn }
}
