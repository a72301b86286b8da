import type { Context } from 'aws-lambda'
import { composeReport } from '../lib/compose/report.ts'
import { processVariables } from '../lib/core/env.ts'
import { writeNightlyPage } from '../lib/report/nightly-page.ts'
import { runOf, ScheduledRun } from '../lib/sync/scheduled-run.ts'
import { readEvent } from './event.ts'
import { createTelemetry } from './telemetry.ts'

const { begin, ...telemetry } = createTelemetry()
const report = composeReport(processVariables(), telemetry)

/** Writes the page of a run that was published. The run is over by then, whatever becomes of its page. */
export async function handler(event: unknown, context: Context) {
  begin(context)
  return writeNightlyPage(runOf(readEvent(ScheduledRun, event, 'the state machine')), report)
}
