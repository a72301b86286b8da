import type { Context, S3ObjectCreatedNotificationEvent } from 'aws-lambda'
import { composeLimits } from '../lib/compose/limits.ts'
import { processVariables } from '../lib/core/env.ts'
import { importFile } from '../lib/limits/intake/import-file.ts'
import { observe } from './observe.ts'

const { begin, ...doors } = observe()
const app = composeLimits(processVariables(), doors)

/** Turns a file that was dropped into the inbox into intents. A file that is refused is no error: its report says why. */
export async function handler({ time, detail }: S3ObjectCreatedNotificationEvent, context: Context): Promise<void> {
  begin(context)
  await importFile(
    { key: detail.object.key, droppedAt: Date.parse(time), droppedBy: detail.requester },
    app.importDeps(),
  )
}
