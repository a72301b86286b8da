import type { Context } from 'aws-lambda'
import * as z from 'zod'
import { composePublish } from '../lib/compose/publish.ts'
import { processVariables } from '../lib/core/env.ts'
import { finishRun } from '../lib/publish/finish-run.ts'
import { emitRunMetrics, failureOf, laterIfOvertaken, resultOfSteps, StepOutcome } from '../lib/publish/steps.ts'
import { streamNamed } from '../lib/streams/index.ts'
import { runOf, ScheduledRun } from '../lib/sync/scheduled-run.ts'
import { readEvent } from './event.ts'
import { createTelemetry } from './telemetry.ts'

const { begin, ...telemetry } = createTelemetry()
const { finishDeps } = composePublish(processVariables(), telemetry)
const Event = ScheduledRun.extend({ outcomes: z.array(StepOutcome) })

/** Publishes what the streams of a run completed. `failure` says why the run counts as failed; null when it does not. */
export async function handler(event: unknown, context: Context) {
  begin(context)
  const { outcomes, ...scheduled } = readEvent(Event, event, 'the state machine')
  const run = runOf(scheduled)
  const results = outcomes.map((outcome) => resultOfSteps(outcome, run.runId))
  const streams = results.map(({ stream }) => streamNamed(stream))
  const { record } = await finishRun(run, { streams, results }, finishDeps()).catch(laterIfOvertaken)
  emitRunMetrics(record, scheduled.schedule, telemetry.metrics)
  return { ...record, failure: failureOf(record) }
}
