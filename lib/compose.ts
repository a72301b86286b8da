import { randomUUID } from 'node:crypto'
import { EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { GlueClient } from '@aws-sdk/client-glue'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import type * as z from 'zod'
import { createRedactor } from './audit/redact.ts'
import { auditOf } from './compose-audit.ts'
import { type Clock, systemClock } from './core/clock.ts'
import { type Deadline, earlier } from './core/deadline.ts'
import {
  AuditVariables,
  PlatformVariables,
  RedactionVariables,
  readVariables,
  StoreVariables,
  type Variables,
} from './core/env.ts'
import type { Log } from './core/log.ts'
import type { Metrics } from './core/metrics.ts'
import { createPlatformClient, type PlatformClient } from './platform/client.ts'
import { fixedCredentials } from './platform/transport.ts'
import { createAnnouncer, silentAnnouncer } from './stores/announcer.ts'
import { createCatalog, noCatalog } from './stores/catalog.ts'
import { createCheckpoints } from './stores/checkpoints.ts'
import { type AwsClients, type AwsTarget, createAwsClients } from './stores/clients.ts'
import { createIndexStore } from './stores/index-store.ts'
import { createLake } from './stores/lake.ts'
import { createObjectStore } from './stores/objects.ts'
import { createPublications } from './stores/publications.ts'
import { createRecords } from './stores/records.ts'
import { createRuns } from './stores/runs.ts'
import { createSecretReader, type ReadSecret, secretCredentials } from './stores/secrets.ts'
import { enterpriseControlRevisions } from './streams/enterprise-control-revisions.ts'
import { defaultSettings, type SyncDeps, type SyncSettings } from './sync/attempt.ts'
import type { Announcer, Catalog } from './sync/ports.ts'
import type { FinishDeps } from './sync/run-streams.ts'
import { createSource } from './sync/source.ts'

/** What differs between Lambda, a laptop and a test; all else comes from the environment. */
export type Doors = {
  log: Log
  metrics: Metrics
  clock?: Clock
  settings?: Partial<SyncSettings>
  clients?: AwsClients
  /** How the platform is reached; the runtime's own by default. */
  fetch?: typeof fetch
}

const Environment = StoreVariables.extend({
  ...PlatformVariables.shape,
  ...RedactionVariables.shape,
  ...AuditVariables.shape,
})

/** Everything that the functions and commands work with. */
export type App = ReturnType<typeof compose>

/**
 * Builds clients and stores from the environment: the one place that does. Secrets are read when they are first needed.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export const compose = (variables: Variables, doors: Doors) => {
  const env = readVariables(Environment, variables)
  const readSecret = createSecretReader(new SecretsManagerClient({ region: env.AWS_REGION }))
  const clients = doors.clients ?? createAwsClients(targetOf(env))
  const clock = doors.clock ?? systemClock
  const stores = createStores(env, clients, clock)
  const settings = { ...defaultSettings, ...doors.settings }
  const platform = platformOf(env, readSecret, { ...doors, clock })
  const audit = auditOf(env, { ...stores, clients, clock, metrics: doors.metrics })
  const outlets = outletsOf(env)
  const newOwner = () => `${process.pid}-${randomUUID()}`

  return {
    ...stores,
    platform,
    /** Null where no bucket for it is named. */
    audit,
    clock,
    log: doors.log,
    close: clients.destroy,
    /** What an attempt at a stream needs; the deadline is the invocation's. */
    syncDeps: async (deadline: Deadline): Promise<SyncDeps> => {
      const redactor = createRedactor(await redactionKey(env, readSecret))
      const { redact } = redactor
      const observers = audit ? { [enterpriseControlRevisions.name]: audit.observer(redactor) } : {}
      const source = createSource(platform, earlier(deadline, settings.marginMs))
      return {
        ...stores,
        source,
        redact,
        observers,
        clock,
        deadline,
        log: doors.log,
        metrics: doors.metrics,
        newOwner,
        settings,
      }
    },
    finishDeps: (): FinishDeps => ({
      ...stores,
      clock,
      log: doors.log,
      newOwner,
      leaseMs: settings.leaseMs,
      ...outlets,
    }),
  }
}

/** On AWS the SDK finds its credentials by itself; emulators are given the ones that stand beside their address. */
const targetOf = (env: z.infer<typeof StoreVariables>): AwsTarget => {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env
  const target = { region: env.AWS_REGION, endpointUrl: env.AWS_ENDPOINT_URL }
  return env.AWS_ENDPOINT_URL && accessKeyId && secretAccessKey
    ? { ...target, credentials: { accessKeyId, secretAccessKey } }
    : target
}

const createStores = (
  { STATE_TABLE, RECORDS_TABLE, LAKE_BUCKET }: { STATE_TABLE: string; RECORDS_TABLE: string; LAKE_BUCKET: string },
  { dynamodb, s3 }: AwsClients,
  clock: Clock,
) => {
  const objects = createObjectStore({ s3, bucket: LAKE_BUCKET })
  const state = { dynamodb, table: STATE_TABLE }
  return {
    checkpoints: createCheckpoints(state),
    publications: createPublications(state),
    runs: createRuns(state),
    records: createRecords({ dynamodb, table: RECORDS_TABLE, bodies: objects, clock, random: Math.random }),
    lake: createLake(objects),
    index: createIndexStore(objects),
    objects,
  }
}

/** Where the warehouse and others learn what was published. A laptop has neither a catalog nor an event bus. */
const outletsOf = (env: z.infer<typeof StoreVariables>): { catalog: Catalog; announcer: Announcer } => {
  const { CATALOG_DATABASE: database, EVENT_BUS: bus, LAKE_BUCKET: bucket, AWS_REGION: region } = env
  return {
    catalog: database ? createCatalog({ glue: new GlueClient({ region }), database, bucket }) : noCatalog,
    announcer: bus ? createAnnouncer({ eventBridge: new EventBridgeClient({ region }), bus, bucket }) : silentAnnouncer,
  }
}

type PlatformEnvironment = {
  PLATFORM_APP_URL: string
  PLATFORM_BASE_URL: string
  PLATFORM_API_KEY?: string | undefined
  PLATFORM_SECRET_ID?: string | undefined
}

const platformOf = (
  env: PlatformEnvironment,
  readSecret: ReadSecret,
  { clock, log, fetch }: { clock: Clock; log: Log; fetch?: typeof globalThis.fetch },
): PlatformClient =>
  createPlatformClient({
    appUrl: env.PLATFORM_APP_URL,
    baseUrl: env.PLATFORM_BASE_URL,
    credentials: env.PLATFORM_API_KEY
      ? fixedCredentials(env.PLATFORM_API_KEY)
      : secretCredentials(readSecret, env.PLATFORM_SECRET_ID as string),
    clock,
    log,
    random: Math.random,
    ...(fetch ? { fetch } : {}),
  })

const redactionKey = async (
  env: { REDACTION_KEY?: string | undefined; REDACTION_SECRET_ID?: string | undefined },
  readSecret: ReadSecret,
): Promise<string> => env.REDACTION_KEY ?? (await readSecret(env.REDACTION_SECRET_ID as string))
