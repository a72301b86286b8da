import * as z from 'zod'
import { type Deadline, earlier } from '../core/deadline.ts'
import {
  AuditVariables,
  PlatformVariables,
  RedactionVariables,
  readVariables,
  StoreVariables,
  type Variables,
} from '../core/env.ts'
import { FatalError } from '../core/errors.ts'
import { createPatience } from '../core/patience.ts'
import { createLedgerSource } from '../limits/outcomes/ledger-source.ts'
import { createRedactor } from '../redaction/redact.ts'
import { createLedgerReader, ledgerParts } from '../stores/ledger.ts'
import { createRecords } from '../stores/records.ts'
import { createSecretReader, type ReadSecret } from '../stores/secrets.ts'
import { enterpriseControlRevisions } from '../streams/enterprise-control-revisions.ts'
import { platformStreams, streams } from '../streams/index.ts'
import { isPlatformStream } from '../streams/stream.ts'
import { defaultSettings, type SyncDeps, type SyncSettings } from '../sync/context.ts'
import type { Source } from '../sync/ports.ts'
import { createSource } from '../sync/source.ts'
import { auditOf } from './audit.ts'
import { type PlatformRuntime, platformOf } from './platform.ts'
import { cloudOf, newOwner, type Runtime } from './runtime.ts'
import { openStores } from './stores.ts'

/** A runtime that may set how much is gathered before it is written, and how time is kept. */
export type SyncRuntime = PlatformRuntime & { settings?: Partial<SyncSettings> }

const SyncVariables = StoreVariables.extend({
  ...PlatformVariables.shape,
  ...RedactionVariables.shape,
  ...AuditVariables.shape,
  LIMITS_TABLE: z.string().optional(),
})

/** The root of reading streams. */
export type SyncRoot = ReturnType<typeof composeSync>

/**
 * Builds what reading streams needs: the platform, the redactor, the stores and the audit trail. Secrets are read when
 * they are first needed.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeSync(variables: Variables, runtime: SyncRuntime) {
  const env = readVariables(SyncVariables, variables)
  const readSecret = createSecretReader(cloudOf(env))
  const stores = openSyncStores(env, runtime)
  const platform = platformOf(env, readSecret, runtime)
  const audit = auditOf(env, { ...stores, metrics: runtime.metrics })
  const engine = engineOf(stores, runtime)
  const ledger = ledgerOf(env, stores)
  return {
    ...stores,
    platform,
    /** The streams that can be read here: outcomes of credit limits only where there is a table of them. */
    streams: ledger ? streams : platformStreams,
    /** Null where no bucket for it is named. */
    audit,
    /** What an attempt at a stream needs; the deadline is the invocation's. */
    syncDeps: async (deadline: Deadline): Promise<SyncDeps> => {
      const redactor = createRedactor(await redactionKey(env, readSecret))
      const observers = audit ? { [enterpriseControlRevisions.name]: audit.observer(redactor) } : {}
      const source = sourceOf(createSource(platform, earlier(deadline, engine.settings.marginMs)), ledger)
      const patience = createPatience(engine.settings.patienceMs)
      return { ...engine, source, redact: redactor.redact, observers, deadline, patience }
    },
  }
}

/** Gives the source of what happened to credit limits; null without a table of them. */
function ledgerOf(
  { LIMITS_TABLE: table }: z.infer<typeof SyncVariables>,
  { clients: { dynamodb }, clock }: Pick<SyncStores, 'clients' | 'clock'>,
): Source | null {
  return table
    ? createLedgerSource(createLedgerReader(ledgerParts({ dynamodb, table, clock, random: Math.random })))
    : null
}

/** Gives each stream its source: the platform for its lists, the ledger for what happened to credit limits. */
function sourceOf(platform: Source, ledger: Source | null): Source {
  return {
    fetchPage: (stream, token, request) => {
      const source = isPlatformStream(stream) ? platform : ledger
      if (source) return source.fetchPage(stream, token, request)
      throw new FatalError(`${stream.name} comes from the limits table: set LIMITS_TABLE to its name.`, {
        code: 'configuration',
      })
    },
  }
}

/** Opens what the engine writes to. */
export function openSyncStores(env: z.infer<typeof StoreVariables>, runtime: Runtime) {
  const stores = openStores(env, runtime)
  const { objects: bodies, clock, clients } = stores
  const { dynamodb } = clients
  return {
    ...stores,
    records: createRecords({ dynamodb, table: env.RECORDS_TABLE, bodies, clock, random: Math.random }),
  }
}

type SyncStores = ReturnType<typeof openSyncStores>

/** Gives the part of the engine's dependencies that asks no platform. */
export function engineOf({ checkpoints, records, lake, index, clock }: SyncStores, runtime: SyncRuntime) {
  const { log, metrics, settings } = runtime
  return {
    ...{ checkpoints, records, lake, index, clock, log, metrics, newOwner },
    settings: { ...defaultSettings, ...settings },
  }
}

async function redactionKey(env: z.infer<typeof RedactionVariables>, readSecret: ReadSecret): Promise<string> {
  return env.REDACTION_KEY ?? (await readSecret(env.REDACTION_SECRET_ID as string))
}
