import type { Context, S3ObjectCreatedNotificationEvent } from 'aws-lambda'
import { composeImport } from '../lib/compose/limits-import.ts'
import { processVariables } from '../lib/core/env.ts'
import { importFile } from '../lib/limits/intake/import-file.ts'
import { createTelemetry } from './telemetry.ts'

const { begin, ...telemetry } = createTelemetry()
const deps = composeImport(processVariables(), telemetry)

/** Turns a file that was dropped into the inbox into intents. A file that is refused is no error: its report says why. */
export async function handler({ time, detail }: S3ObjectCreatedNotificationEvent, context: Context): Promise<void> {
  begin(context)
  await importFile({ key: detail.object.key, droppedAt: Date.parse(time), droppedBy: detail.requester }, deps)
}
