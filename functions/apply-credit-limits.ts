import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { processVariables } from '../lib/core/env.ts'
import { applyBatch } from '../lib/limits/apply-batch.ts'
import { composeLimits } from '../lib/limits/compose.ts'
import { observe } from './observe.ts'

const { begin, ...doors } = observe()
const app = composeLimits(processVariables(), doors)
const api = app.platform()

/** Applies intents of credit limits; only the messages that failed come again. */
export const handler = async ({ Records }: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
  begin(context)
  return await applyBatch(Records, app.applyDeps(api, { remainingMs: () => context.getRemainingTimeInMillis() }))
}
