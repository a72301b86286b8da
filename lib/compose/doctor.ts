import * as z from 'zod'
import { AuditVariables, AwsVariables, readVariables, type Variables } from '../core/env.ts'
import { filesLeftWaiting } from '../limits/intake/waiting-files.ts'
import { createAlarmReader, createCloudWatch } from '../stores/alarms.ts'
import { createInboxListing } from '../stores/inbox.ts'
import { createKms, mayBeSignedWith } from '../stores/kms-signer.ts'
import { createLedgerReader, ledgerParts } from '../stores/ledger.ts'
import { messagesOn } from '../stores/limits-queue.ts'
import { stateTable } from '../stores/resources.ts'
import { createSqs } from '../stores/sqs.ts'
import { createStorageClients } from '../stores/storage.ts'
import { clockOf, cloudOf, type Runtime, targetOf } from './runtime.ts'

const Environment = AwsVariables.extend({
  AUDIT_SIGNING_KEY_ARN: AuditVariables.shape.AUDIT_SIGNING_KEY_ARN,
  STATE_TABLE: z.string().optional(),
  LIMITS_TABLE: z.string().optional(),
  LIMITS_QUEUE_URL: z.url().optional(),
  LIMITS_DEAD_LETTERS_URL: z.url().optional(),
  INBOX_BUCKET: z.string().optional(),
})
type Environment = z.infer<typeof Environment>

/** An installation around the streams, as those see it who look whether it works. */
export type InstallationInspection = ReturnType<typeof composeDoctor>

/**
 * Builds what looking at credit limits, the signing key and the alarms needs. Each part is null where it is not configured.
 * @throws FatalError `configuration` that names each variable that is malformed.
 */
export function composeDoctor(variables: Variables, runtime: Runtime) {
  const env = readVariables(Environment, variables)
  const target = targetOf(env, runtime)
  const clients = runtime.clients ?? createStorageClients(target)
  const sqs = createSqs(target)
  const prefix = prefixIn(env)
  const cloudWatch = prefix === null ? null : createCloudWatch(cloudOf(env))
  const kms = env.AUDIT_SIGNING_KEY_ARN ? createKms(cloudOf(env)) : null
  const clock = clockOf(runtime)
  const countOn = (url: string | undefined) => (url === undefined ? null : () => messagesOn(sqs, url))
  const { LIMITS_TABLE: table, INBOX_BUCKET: bucket, AUDIT_SIGNING_KEY_ARN: keyArn } = env
  return {
    ledger: table
      ? () => createLedgerReader(ledgerParts({ ...clients, table, clock, random: Math.random })).turn()
      : null,
    waiting: countOn(env.LIMITS_QUEUE_URL),
    deadLetters: countOn(env.LIMITS_DEAD_LETTERS_URL),
    inbox: bucket ? () => filesLeftWaiting({ listing: createInboxListing({ s3: clients.s3, bucket }), clock }) : null,
    /** Null also for a key in a file. */
    maySign: kms && keyArn ? () => mayBeSignedWith({ kms, keyArn }) : null,
    alarms: cloudWatch && prefix ? createAlarmReader({ client: cloudWatch, prefix }).all : null,
    close: () => {
      sqs.destroy()
      cloudWatch?.destroy()
      kms?.destroy()
      clients.destroy()
    },
  }
}

/** The name of the installation whose state table is configured; null with emulators, which have no alarms. */
function prefixIn(env: Environment): string | null {
  const ending = `-${stateTable.name}`
  if (env.AWS_ENDPOINT_URL !== undefined || !env.STATE_TABLE?.endsWith(ending)) return null
  return env.STATE_TABLE.slice(0, -ending.length)
}
