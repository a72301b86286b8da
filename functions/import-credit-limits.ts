import type { Context, S3Event } from 'aws-lambda'
import { composeLimits } from '../lib/compose-limits.ts'
import { processVariables } from '../lib/core/env.ts'
import { importFile } from '../lib/limits/import-file.ts'
import { observe } from './observe.ts'

const { begin, ...doors } = observe()
const app = composeLimits(processVariables(), doors)

/** Turns files that were dropped into the inbox into intents. A file that is refused is no error: its report says why. */
export const handler = async ({ Records }: S3Event, context: Context): Promise<void> => {
  begin(context)
  for (const { s3, eventTime, userIdentity } of Records) {
    // Notifications carry keys as form data: a blank comes as a plus sign.
    const key = decodeURIComponent(s3.object.key.replaceAll('+', ' '))
    await importFile({ key, droppedAt: Date.parse(eventTime), droppedBy: userIdentity.principalId }, app.importDeps())
  }
}
