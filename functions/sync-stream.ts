import type { Context } from 'aws-lambda'
import * as z from 'zod'
import { composeSync } from '../lib/compose/sync.ts'
import { processVariables } from '../lib/core/env.ts'
import { unitNamed } from '../lib/streams/index.ts'
import { stepAfter } from '../lib/sync/drive-stream.ts'
import { runOf, ScheduledRun } from '../lib/sync/scheduled-run.ts'
import { syncStream } from '../lib/sync/sync-stream.ts'
import { readEvent } from './event.ts'
import { createTelemetry } from './telemetry.ts'

const { begin, ...telemetry } = createTelemetry()
const { syncDeps } = composeSync(processVariables(), telemetry)
const Event = ScheduledRun.extend({ stream: z.string() })

/** One attempt at one stream. Whatever it comes to is data: the state machine decides whether it calls again. */
export async function handler(event: unknown, context: Context) {
  begin(context)
  const { stream, ...scheduled } = readEvent(Event, event, 'the state machine')
  const deps = await syncDeps({ remainingMs: () => context.getRemainingTimeInMillis() })
  return stepAfter(await syncStream(unitNamed(stream), runOf(scheduled), deps))
}
