import * as z from 'zod'
import { AwsVariables, readVariables, type Variables } from '../core/env.ts'
import type { ImportDeps } from '../limits/intake/import-file.ts'
import type { InboxListing } from '../limits/ports.ts'
import { createInbox, createInboxListing } from '../stores/inbox.ts'
import { createLedgerReader } from '../stores/ledger.ts'
import { createIntentQueue } from '../stores/limits-queue.ts'
import { createS3 } from '../stores/s3.ts'
import { openLimits } from './limits-ledger.ts'
import { type QueueRuntime, targetOf } from './runtime.ts'

const InboxVariables = AwsVariables.extend({
  INBOX_BUCKET: z.string('is missing; set it to the name of the inbox bucket'),
})

/**
 * Builds what importing a file of credit limits needs, and looking for those that nobody imports.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeImport(variables: Variables, runtime: QueueRuntime): ImportDeps & { listing: InboxListing } {
  const { parts, sqs, queueUrl, rules, clock } = openLimits(variables, runtime)
  const env = readVariables(InboxVariables, variables)
  const s3 = runtime.clients?.s3 ?? createS3(targetOf(env, runtime))
  return {
    inbox: createInbox({ s3, bucket: env.INBOX_BUCKET }),
    listing: createInboxListing({ s3, bucket: env.INBOX_BUCKET }),
    reader: createLedgerReader(parts),
    queue: createIntentQueue({ sqs, queueUrl }),
    ...{ rules, clock, random: Math.random, log: runtime.log },
  }
}
