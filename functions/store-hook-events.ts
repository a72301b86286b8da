import type { Context, SQSBatchResponse } from 'aws-lambda'
import * as z from 'zod'
import { composeStoreHooks } from '../lib/compose/hooks-store.ts'
import { processVariables } from '../lib/core/env.ts'
import { storeBatch } from '../lib/hooks/collector/store.ts'
import { readEvent } from './event.ts'
import { createTelemetry } from './telemetry.ts'

const { begin, ...telemetry } = createTelemetry()
const { storeDeps } = composeStoreHooks(processVariables(), telemetry)

/** A batch of the queue. Its records are checked one by one, so that a malformed one fails alone. */
const Event = z.object({ Records: z.array(z.unknown()) })

/** Writes events that were taken in to the lake bucket; only the messages that failed come again. */
export async function handler(event: unknown, context: Context): Promise<SQSBatchResponse> {
  begin(context)
  const { Records } = readEvent(Event, event, 'the event source mapping of a queue')
  return await storeBatch(Records, await storeDeps())
}
