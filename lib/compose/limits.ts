import { randomUUID } from 'node:crypto'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import type { SQSClient } from '@aws-sdk/client-sqs'
import * as z from 'zod'
import { type Clock, systemClock } from '../core/clock.ts'
import type { Deadline } from '../core/deadline.ts'
import { PlatformVariables, readVariables, StoreVariables, type Variables } from '../core/env.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { BatchDeps } from '../limits/apply/apply-batch.ts'
import { defaultRules, type LimitRules } from '../limits/entries.ts'
import type { ImportDeps } from '../limits/intake/import-file.ts'
import type { Inbox, LimitsApi } from '../limits/ports.ts'
import type { PlatformClient } from '../platform/client.ts'
import { type AwsClients, createAwsClients } from '../stores/clients.ts'
import { createInbox } from '../stores/inbox.ts'
import { createLedger, createLedgerReader, ledgerParts } from '../stores/ledger.ts'
import { createIntentQueue, createMessagePauses, messagesOn } from '../stores/limits-queue.ts'
import { createSecretReader } from '../stores/secrets.ts'
import { createSqsClient, platformOf, targetOf } from './clients.ts'

function count(what: string) {
  return z.coerce.number().int().min(0, `must be ${what}`).max(Number.MAX_SAFE_INTEGER)
}

/** What provisioning reads from the environment. */
export const LimitsVariables = StoreVariables.pick({
  AWS_REGION: true,
  AWS_ENDPOINT_URL: true,
  AWS_ACCESS_KEY_ID: true,
  AWS_SECRET_ACCESS_KEY: true,
}).extend({
  LIMITS_TABLE: z.string('is missing; set it to the name of the limits table (an output of the stateful stack)'),
  LIMITS_QUEUE_URL: z.url('is missing; set it to the address of the limits queue (an output of the stateful stack)'),
  LIMITS_DEAD_LETTERS_URL: z.url().optional(),
  INBOX_BUCKET: z.string().optional(),
  LIMITS_MAX_LIMIT: count('the largest limit that may be set').default(defaultRules.maxLimit),
  LIMITS_MAX_CHANGES: count('the most changes that one file may make').default(defaultRules.maxChanges),
})
export type LimitsVariables = z.infer<typeof LimitsVariables>

/** What differs between Lambda, a laptop and a test. */
export type LimitsDoors = { log: Log; metrics: Metrics; clock?: Clock; clients?: AwsClients; sqs?: SQSClient }

/** Everything that the functions and commands of credit limits work with. */
export type LimitsApp = ReturnType<typeof composeLimits>

/**
 * Builds what the functions and commands of credit limits work with.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeLimits(variables: Variables, doors: LimitsDoors) {
  const env = readVariables(LimitsVariables, variables)
  const clock = doors.clock ?? systemClock
  const { log, metrics } = doors
  const random = Math.random
  const clients = doors.clients ?? createAwsClients(targetOf(env))
  const sqs = doors.sqs ?? createSqsClient(env)
  const parts = ledgerParts({ dynamodb: clients.dynamodb, table: env.LIMITS_TABLE, clock, random })
  const rules: LimitRules = { maxLimit: env.LIMITS_MAX_LIMIT, maxChanges: env.LIMITS_MAX_CHANGES }
  const queueUrl = env.LIMITS_QUEUE_URL
  const queue = createIntentQueue({ sqs, queueUrl })
  const reader = createLedgerReader(parts)
  const newOwner = () => `${process.pid}-${randomUUID()}`
  return {
    sqs,
    queue,
    queueUrl,
    deadLettersUrl: env.LIMITS_DEAD_LETTERS_URL,
    reader,
    rules,
    clock,
    /** Messages that were sent and not applied: those on the queue and among the dead letters. */
    unfinished: async (): Promise<number> => {
      const urls = [queueUrl, ...(env.LIMITS_DEAD_LETTERS_URL ? [env.LIMITS_DEAD_LETTERS_URL] : [])]
      const counts = await Promise.all(urls.map((url) => messagesOn(sqs, url)))
      return counts.reduce((sum, some) => sum + some, 0)
    },
    /** The platform, as the environment says. @throws FatalError `configuration` */
    platform: () => platformFrom(variables, { clock, log }),
    /** What applying messages needs; the deadline is the invocation's. */
    applyDeps: (api: LimitsApi, deadline: Deadline): BatchDeps => ({
      api,
      ledger: createLedger(parts),
      pauses: createMessagePauses({ sqs, queueUrl }),
      ...{ rules, clock, deadline, log, metrics, newOwner },
    }),
    /** What importing a file needs. */
    importDeps: (): ImportDeps => ({ inbox: inboxOf(env, clients), reader, queue, rules, clock, random, log }),
    close: () => {
      clients.destroy()
      sqs.destroy()
    },
  }
}

function platformFrom(variables: Variables, observed: { clock: Clock; log: Log }): PlatformClient {
  const env = readVariables(PlatformVariables.extend({ AWS_REGION: StoreVariables.shape.AWS_REGION }), variables)
  return platformOf(env, createSecretReader(new SecretsManagerClient({ region: env.AWS_REGION })), observed)
}

function inboxOf({ INBOX_BUCKET }: LimitsVariables, { s3 }: AwsClients): Inbox {
  const named = z.object({ INBOX_BUCKET: z.string('is missing; set it to the name of the inbox bucket') })
  return createInbox({ s3, bucket: readVariables(named, { INBOX_BUCKET }).INBOX_BUCKET })
}
