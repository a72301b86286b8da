import type { Context, SQSBatchResponse } from 'aws-lambda'
import * as z from 'zod'
import { composeApply } from '../lib/compose/limits-apply.ts'
import { processVariables } from '../lib/core/env.ts'
import { applyBatch } from '../lib/limits/apply/apply-batch.ts'
import { readEvent } from './event.ts'
import { createTelemetry } from './telemetry.ts'

const { begin, ...telemetry } = createTelemetry()
const { platform, applyDeps } = composeApply(processVariables(), telemetry)
const api = platform()

/** A batch of the queue. Its records are checked one by one, so that a malformed one fails alone. */
const Event = z.object({ Records: z.array(z.unknown()) })

/** Applies intents of credit limits; only the messages that failed come again. */
export async function handler(event: unknown, context: Context): Promise<SQSBatchResponse> {
  begin(context)
  const { Records } = readEvent(Event, event, 'the event source mapping of a queue')
  return await applyBatch(Records, applyDeps(api, { remainingMs: () => context.getRemainingTimeInMillis() }))
}
