import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { composeApply } from '../lib/compose/limits-apply.ts'
import { processVariables } from '../lib/core/env.ts'
import { applyBatch } from '../lib/limits/apply/apply-batch.ts'
import { createTelemetry } from './telemetry.ts'

const { begin, ...telemetry } = createTelemetry()
const { platform, applyDeps } = composeApply(processVariables(), telemetry)
const api = platform()

/** Applies intents of credit limits; only the messages that failed come again. */
export async function handler({ Records }: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  begin(context)
  return await applyBatch(Records, applyDeps(api, { remainingMs: () => context.getRemainingTimeInMillis() }))
}
