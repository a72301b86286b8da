import { randomUUID } from 'node:crypto'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { SQSClient } from '@aws-sdk/client-sqs'
import * as z from 'zod'
import { type Clock, systemClock } from '../core/clock.ts'
import type { Deadline } from '../core/deadline.ts'
import { PlatformVariables, readVariables, type Variables } from '../core/env.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import { createPlatformClient, type PlatformClient } from '../platform/client.ts'
import { fixedCredentials } from '../platform/transport.ts'
import { type AwsClients, createAwsClients } from '../stores/clients.ts'
import { createObjectStore } from '../stores/objects.ts'
import { createSecretReader, secretCredentials } from '../stores/secrets.ts'
import type { ApplyDeps } from './apply.ts'
import type { ImportDeps } from './import-file.ts'
import { createLedger, createLedgerReader, ledgerParts } from './ledger.ts'
import type { LimitsApi } from './ports.ts'
import { createIntentQueue, createPauses, type Pauses } from './queue.ts'
import { defaultRules, type LimitRules } from './rules.ts'

const count = (what: string) => z.coerce.number().int().min(0, `must be ${what}`).max(Number.MAX_SAFE_INTEGER)

/** What provisioning reads from the environment. */
export const LimitsVariables = z.object({
  AWS_REGION: z.string('is missing; set it to the region of the stack, for example eu-central-1'),
  AWS_ENDPOINT_URL: z.url().optional(),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  LIMITS_TABLE: z.string('is missing; set it to the name of the limits table (an output of the stateful stack)'),
  LIMITS_QUEUE_URL: z.url('is missing; set it to the address of the limits queue (an output of the stateless stack)'),
  LIMITS_DEAD_LETTERS_URL: z.url().optional(),
  INBOX_BUCKET: z.string().optional(),
  LIMITS_MAX_LIMIT: count('the largest limit that may be set').default(defaultRules.maxLimit),
  LIMITS_MAX_CHANGES: count('the most changes that one file may make').default(defaultRules.maxChanges),
})
export type LimitsVariables = z.infer<typeof LimitsVariables>

/** What differs between Lambda, a laptop and a test. */
export type LimitsDoors = { log: Log; metrics: Metrics; clock?: Clock; clients?: AwsClients; sqs?: SQSClient }

/**
 * Builds what the functions and commands of credit limits work with.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export const composeLimits = (variables: Variables, doors: LimitsDoors) => {
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
    /** The platform, as the environment says. @throws FatalError `configuration` */
    platform: () => platformOf(variables, { clock, log }),
    /** What applying messages needs; the deadline is the invocation's. */
    applyDeps: (api: LimitsApi, deadline: Deadline): ApplyDeps & { pauses: Pauses } => ({
      api,
      ledger: createLedger(parts),
      pauses: createPauses({ sqs, queueUrl }),
      ...{ rules, clock, deadline, log, metrics, newOwner },
    }),
    /** What importing a file needs. */
    importDeps: (): ImportDeps => {
      const inbox = createObjectStore({ s3: clients.s3, bucket: inboxOf(env) })
      return { inbox, reader, queue, rules, clock, random, log }
    },
    close: () => {
      clients.destroy()
      sqs.destroy()
    },
  }
}

const platformOf = (variables: Variables, { clock, log }: { clock: Clock; log: Log }): PlatformClient => {
  const env = readVariables(PlatformVariables.extend({ AWS_REGION: z.string() }), variables)
  const readSecret = createSecretReader(new SecretsManagerClient({ region: env.AWS_REGION }))
  const credentials = env.PLATFORM_API_KEY
    ? fixedCredentials(env.PLATFORM_API_KEY)
    : secretCredentials(readSecret, env.PLATFORM_SECRET_ID as string)
  const { PLATFORM_APP_URL: appUrl, PLATFORM_BASE_URL: baseUrl } = env
  return createPlatformClient({ appUrl, baseUrl, credentials, clock, log, random: Math.random })
}

/** A client for SQS, or for the emulator at an endpoint: its queues' addresses name hosts that do not exist. */
export const createSqsClient = (env: Parameters<typeof targetOf>[0]): SQSClient => {
  const { region, endpointUrl, ...credentials } = targetOf(env)
  return new SQSClient({
    region,
    ...credentials,
    ...(endpointUrl ? { endpoint: endpointUrl, useQueueUrlAsEndpoint: false } : {}),
  })
}

const targetOf = (
  env: Pick<LimitsVariables, 'AWS_REGION' | 'AWS_ENDPOINT_URL' | 'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY'>,
) => {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env
  const target = { region: env.AWS_REGION, endpointUrl: env.AWS_ENDPOINT_URL }
  return env.AWS_ENDPOINT_URL && accessKeyId && secretAccessKey
    ? { ...target, credentials: { accessKeyId, secretAccessKey } }
    : target
}

const inboxOf = ({ INBOX_BUCKET }: LimitsVariables): string =>
  readVariables(z.object({ INBOX_BUCKET: z.string('is missing; set it to the name of the inbox bucket') }), {
    INBOX_BUCKET,
  }).INBOX_BUCKET
