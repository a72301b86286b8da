import type { Context } from 'aws-lambda'
import * as z from 'zod'
import { composeImport } from '../lib/compose/limits-import.ts'
import { processVariables } from '../lib/core/env.ts'
import { importFile } from '../lib/limits/intake/import-file.ts'
import { reportWaiting } from '../lib/limits/intake/waiting-files.ts'
import { readEvent } from './event.ts'
import { createTelemetry } from './telemetry.ts'

const { begin, ...telemetry } = createTelemetry()
const deps = composeImport(processVariables(), telemetry)

/** A notification of S3 that an object was created, as EventBridge brings it. */
const Dropped = z.object({
  time: z.iso.datetime({ offset: true }),
  detail: z.object({ object: z.object({ key: z.string().min(1) }), requester: z.string().min(1) }),
})

/** What a rule sends that fires by the clock. */
const ByTheClock = z.object({ source: z.literal('aws.events') })

/** Looks by the clock for files that nobody takes up. Turns a file that was dropped into the inbox into intents. A file that is refused is no error: its report says why. */
export async function handler(event: unknown, context: Context): Promise<void> {
  begin(context)
  if (ByTheClock.safeParse(event).success) return await reportWaiting({ ...deps, metrics: telemetry.metrics })
  const { time, detail } = readEvent(Dropped, event, "the inbox's rule of EventBridge")
  await importFile({ key: detail.object.key, droppedAt: Date.parse(time), droppedBy: detail.requester }, deps)
}
