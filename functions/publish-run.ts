import type { Context } from 'aws-lambda'
import * as z from 'zod'
import { compose } from '../lib/compose/app.ts'
import { processVariables } from '../lib/core/env.ts'
import { finishRun } from '../lib/publish/finish-run.ts'
import { emitRunMetrics, failureOf, resultOfSteps, StepOutcome } from '../lib/publish/steps.ts'
import { streamNamed } from '../lib/streams/index.ts'
import { runOf, ScheduledRun } from '../lib/sync/scheduled-run.ts'
import { observe } from './observe.ts'

const { begin, ...doors } = observe()
const app = compose(processVariables(), doors)
const Event = ScheduledRun.extend({ outcomes: z.array(StepOutcome) })

/** Publishes what the streams of a run completed. `failure` says why the run counts as failed; null when it does not. */
export async function handler(event: unknown, context: Context) {
  begin(context)
  const { outcomes, ...occasion } = Event.parse(event)
  const run = runOf(occasion)
  const results = outcomes.map((outcome) => resultOfSteps(outcome, run.runId))
  const streams = results.map(({ stream }) => streamNamed(stream))
  const { record } = await finishRun(run, { streams, results }, app.finishDeps())
  emitRunMetrics(record, occasion.schedule, doors.metrics)
  return { ...record, failure: failureOf(record) }
}
