import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { composeLimits } from '../lib/compose/limits.ts'
import { processVariables } from '../lib/core/env.ts'
import { applyBatch } from '../lib/limits/apply/apply-batch.ts'
import { observe } from './observe.ts'

const { begin, ...doors } = observe()
const app = composeLimits(processVariables(), doors)
const api = app.platform()

/** Applies intents of credit limits; only the messages that failed come again. */
export async function handler({ Records }: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  begin(context)
  return await applyBatch(Records, app.applyDeps(api, { remainingMs: () => context.getRemainingTimeInMillis() }))
}
