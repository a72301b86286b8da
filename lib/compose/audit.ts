import type * as z from 'zod'
import { type Audit, createAudit } from '../audit/audit.ts'
import { createWatch } from '../audit/changes/watch.ts'
import { configuredRules } from '../audit/changes/watch-rules.ts'
import type { TrailPlace } from '../audit/report/report.ts'
import type { Signer } from '../audit/trail/ports.ts'
import type { Clock } from '../core/clock.ts'
import { AuditVariables, readVariables, StoreVariables, type Variables } from '../core/env.ts'
import { FatalError } from '../core/errors.ts'
import type { Metrics } from '../core/metrics.ts'
import { createDynamoHead } from '../stores/audit-head.ts'
import { createFileSigner } from '../stores/file-signer.ts'
import { createKmsSigner } from '../stores/kms-signer.ts'
import { createObjectStore, type ObjectStore } from '../stores/objects.ts'
import { createStorageClients, type StorageClients } from '../stores/storage.ts'
import { clockOf, cloudOf, type Runtime, targetOf } from './runtime.ts'

/** The variables that name the audit trail. */
export const AuditEnvironment = StoreVariables.omit({ RECORDS_TABLE: true }).extend(AuditVariables.shape)
export type AuditEnvironment = z.infer<typeof AuditEnvironment>

/**
 * Builds the audit trail alone; null without a bucket for it.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeAudit(variables: Variables, runtime: Runtime) {
  const env = readVariables(AuditEnvironment, variables)
  const clients = runtime.clients ?? createStorageClients(targetOf(env, runtime))
  const clock = clockOf(runtime)
  const objects = createObjectStore({ s3: clients.s3, bucket: env.LAKE_BUCKET })
  const audit = auditOf(env, { clients, clock, objects, metrics: runtime.metrics })
  return { audit, place: placeOf(env), clock, close: clients.destroy }
}

/** Where the trail lies, as far as the environment says: the account is that of the signing key. */
export function placeOf({ AUDIT_ORGANIZATION, AUDIT_BUCKET, AUDIT_SIGNING_KEY_ARN }: AuditEnvironment): TrailPlace {
  const account = AUDIT_SIGNING_KEY_ARN?.split(':')[4]
  return { organization: AUDIT_ORGANIZATION ?? null, account: account || null, bucket: AUDIT_BUCKET ?? null }
}

type AuditDeps = { clients: StorageClients; clock: Clock; objects: ObjectStore; metrics: Metrics }

/** The audit trail that the environment names; null without a bucket for it. @throws FatalError `configuration`. */
export function auditOf(
  env: AuditEnvironment,
  { clients: { s3, dynamodb }, clock, objects, metrics }: AuditDeps,
): Audit | null {
  const { AUDIT_BUCKET: bucket, STATE_TABLE: table } = env
  if (!bucket) return null
  return createAudit({
    store: createObjectStore({ s3, bucket }),
    work: objects,
    head: createDynamoHead({ dynamodb, table }),
    signer: signerOf(env),
    watch: createWatch(configuredRules(env.AUDIT_WATCH_RULES)),
    clock,
    metrics,
    random: Math.random,
    // The key in KMS is that of a stack, whose schedule writes a digest every day.
    daily: Boolean(env.AUDIT_SIGNING_KEY_ARN),
  })
}

function signerOf(env: AuditEnvironment): Signer {
  const { AUDIT_SIGNING_KEY_ARN: keyArn, AUDIT_SIGNING_KEY_FILE: file } = env
  if (keyArn) return createKmsSigner({ target: cloudOf(env), keyArn })
  if (file) return createFileSigner(file)
  throw noSigner()
}

/** What to say where digests can't be signed. */
export function noSigner(): FatalError {
  return new FatalError(
    'AUDIT_BUCKET is set, but nothing signs its digests: set AUDIT_SIGNING_KEY_ARN to the ARN of the signing key (an output of ' +
      'the stateful stack), or AUDIT_SIGNING_KEY_FILE to a file for a key of this machine',
    { code: 'configuration' },
  )
}
