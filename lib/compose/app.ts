import { randomUUID } from 'node:crypto'
import { EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { GlueClient } from '@aws-sdk/client-glue'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import * as z from 'zod'
import { type Clock, systemClock } from '../core/clock.ts'
import { type Deadline, earlier } from '../core/deadline.ts'
import {
  AuditVariables,
  PlatformVariables,
  RedactionVariables,
  readVariables,
  StoreVariables,
  type Variables,
} from '../core/env.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import { outcomesSource } from '../limits/outcomes/outcomes-scan.ts'
import type { FinishDeps, OtherScan } from '../publish/finish-run.ts'
import type { Announcer, Catalog } from '../publish/ports.ts'
import { createRedactor } from '../redaction/redact.ts'
import { createAnnouncer, silentAnnouncer } from '../stores/announcer.ts'
import { createCatalog, noCatalog } from '../stores/catalog.ts'
import { createCheckpoints } from '../stores/checkpoints.ts'
import { type AwsClients, createAwsClients } from '../stores/clients.ts'
import { createIndexStore } from '../stores/index-store.ts'
import { createLake } from '../stores/lake.ts'
import { createLedgerReader, ledgerParts } from '../stores/ledger.ts'
import { createObjectStore } from '../stores/objects.ts'
import { createPublications } from '../stores/publications.ts'
import { createRecords } from '../stores/records.ts'
import { createRuns } from '../stores/runs.ts'
import { createSecretReader, type ReadSecret } from '../stores/secrets.ts'
import { enterpriseControlRevisions } from '../streams/enterprise-control-revisions.ts'
import { streams } from '../streams/index.ts'
import { defaultSettings, type SyncDeps, type SyncSettings } from '../sync/context.ts'
import { createSource } from '../sync/source.ts'
import { auditOf } from './audit.ts'
import { platformOf, targetOf } from './clients.ts'

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
  LIMITS_TABLE: z.string().optional(),
})

/** Everything that the functions and commands work with. */
export type App = ReturnType<typeof compose>

/**
 * Builds clients and stores from the environment: the one place that does. Secrets are read when they are first needed.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function compose(variables: Variables, doors: Doors) {
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
  const others = outcomesOf(env.LIMITS_TABLE, { ...stores, clients, clock, newOwner, leaseMs: settings.leaseMs })

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
      const { log, metrics } = doors
      return { ...stores, source, redact, observers, clock, deadline, log, metrics, newOwner, settings }
    },
    finishDeps: (): FinishDeps => ({
      ...stores,
      clock,
      log: doors.log,
      newOwner,
      leaseMs: settings.leaseMs,
      published: streams,
      ...outlets,
      others,
    }),
  }
}

function createStores(
  { STATE_TABLE, RECORDS_TABLE, LAKE_BUCKET }: { STATE_TABLE: string; RECORDS_TABLE: string; LAKE_BUCKET: string },
  { dynamodb, s3 }: AwsClients,
  clock: Clock,
) {
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

/** The outcomes of credit limits, where there is a table of them. */
function outcomesOf(
  table: string | undefined,
  { clients: { dynamodb }, ...deps }: Omit<Parameters<typeof outcomesSource>[0], 'reader'> & { clients: AwsClients },
): OtherScan[] {
  if (!table) return []
  const reader = createLedgerReader(ledgerParts({ dynamodb, table, clock: deps.clock, random: Math.random }))
  return [outcomesSource({ reader, ...deps })]
}

/** Where the warehouse and others learn what was published. A laptop has neither a catalog nor an event bus. */
function outletsOf(env: z.infer<typeof StoreVariables>): { catalog: Catalog; announcer: Announcer } {
  const { CATALOG_DATABASE: database, EVENT_BUS: bus, LAKE_BUCKET: bucket, AWS_REGION: region } = env
  return {
    catalog: database ? createCatalog({ glue: new GlueClient({ region }), database, bucket, streams }) : noCatalog,
    announcer: bus ? createAnnouncer({ eventBridge: new EventBridgeClient({ region }), bus, bucket }) : silentAnnouncer,
  }
}

async function redactionKey(
  env: { REDACTION_KEY?: string | undefined; REDACTION_SECRET_ID?: string | undefined },
  readSecret: ReadSecret,
): Promise<string> {
  return env.REDACTION_KEY ?? (await readSecret(env.REDACTION_SECRET_ID as string))
}
