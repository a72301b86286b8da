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
import { createHookSource } from '../hooks/collector/hook-source.ts'
import { createLedgerSource } from '../limits/outcomes/ledger-source.ts'
import { createRedactor } from '../redaction/redact.ts'
import { createHookObjects } from '../stores/hook-objects.ts'
import { createLedgerReader, ledgerParts } from '../stores/ledger.ts'
import { createRecords } from '../stores/records.ts'
import { createSecretReader, type ReadSecret } from '../stores/secrets.ts'
import { creditLimitOutcomes } from '../streams/credit-limit-outcomes.ts'
import { enterpriseControlRevisions } from '../streams/enterprise-control-revisions.ts'
import { hookEvents } from '../streams/hook-events.ts'
import { streams } from '../streams/index.ts'
import { isPlatformStream, type Stream } from '../streams/stream.ts'
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
  HOOKS_TABLE: z.string().optional(),
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
  const platform = platformOf(env, runtime, {
    readSecret,
    state: { dynamodb: stores.clients.dynamodb, table: env.STATE_TABLE },
  })
  const audit = auditOf(env, { ...stores, metrics: runtime.metrics })
  const engine = engineOf(stores, runtime)
  const others = otherSources(env, stores)
  return {
    ...stores,
    platform,
    /** The streams that can be read here: what comes from a place of this project only where that place is configured. */
    streams: streams.filter((stream) => isPlatformStream(stream) || others.has(stream)),
    /** Null where no bucket for it is named. */
    audit,
    /** What an attempt at a stream needs; the deadline is the invocation's. */
    syncDeps: async (deadline: Deadline): Promise<SyncDeps> => {
      const redactor = createRedactor(await redactionKey(env, readSecret))
      const observers = audit ? { [enterpriseControlRevisions.name]: audit.observer(redactor) } : {}
      const source = sourceOf(createSource(platform, earlier(deadline, engine.settings.marginMs)), others)
      const patience = createPatience(engine.settings.patienceMs)
      return { ...engine, source, redact: redactor.redact, observers, deadline, patience }
    },
  }
}

/** The sources of streams that are no lists of the platform, where they are configured. */
function otherSources(
  { LIMITS_TABLE: limits, HOOKS_TABLE: hooks, LAKE_BUCKET: bucket }: z.infer<typeof SyncVariables>,
  { clients: { dynamodb, s3 }, clock }: Pick<SyncStores, 'clients' | 'clock'>,
): Map<Stream, Source> {
  const sources = new Map<Stream, Source>()
  if (limits) {
    const parts = ledgerParts({ dynamodb, table: limits, clock, random: Math.random })
    sources.set(creditLimitOutcomes, createLedgerSource(createLedgerReader(parts)))
  }
  if (hooks) sources.set(hookEvents, createHookSource(createHookObjects({ s3, bucket })))
  return sources
}

/** Gives each stream its source: the platform for its lists, a place of this project for the others. */
function sourceOf(platform: Source, others: ReadonlyMap<Stream, Source>): Source {
  return {
    fetchPage: (stream, token, request) => {
      const source = isPlatformStream(stream) ? platform : others.get(stream)
      if (source) return source.fetchPage(stream, token, request)
      const variable = stream === hookEvents ? 'HOOKS_TABLE' : 'LIMITS_TABLE'
      throw new FatalError(`${stream.name} is not read without a table of it: set ${variable} to its name.`, {
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
