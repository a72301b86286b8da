import type * as z from 'zod'
import { type Audit, createAudit } from '../audit/audit.ts'
import { createWatch } from '../audit/changes/watch.ts'
import { configuredRules } from '../audit/changes/watch-rules.ts'
import type { Signer } from '../audit/trail/ports.ts'
import type { Clock } from '../core/clock.ts'
import type { AuditVariables, StoreVariables } from '../core/env.ts'
import { FatalError } from '../core/errors.ts'
import type { Metrics } from '../core/metrics.ts'
import { createDynamoHead } from '../stores/audit-head.ts'
import type { AwsClients } from '../stores/clients.ts'
import { createFileSigner } from '../stores/file-signer.ts'
import { createKmsSigner } from '../stores/kms-signer.ts'
import { createObjectStore, type ObjectStore } from '../stores/objects.ts'

type AuditContext = { clients: AwsClients; clock: Clock; metrics: Metrics; objects: ObjectStore }

/** The audit trail that the environment names; null without a bucket for it. @throws FatalError `configuration`. */
export function auditOf(
  env: z.infer<typeof AuditVariables> & z.infer<typeof StoreVariables>,
  { clients: { s3, dynamodb }, clock, metrics, objects }: AuditContext,
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

function signerOf(env: z.infer<typeof AuditVariables> & { AWS_REGION: string }): Signer {
  const { AUDIT_SIGNING_KEY_ARN: keyArn, AUDIT_SIGNING_KEY_FILE: file, AWS_REGION: region } = env
  if (keyArn) return createKmsSigner({ target: { region }, keyArn })
  if (file) return createFileSigner(file)
  throw new FatalError(
    'AUDIT_BUCKET is set, but nothing signs its digests: set AUDIT_SIGNING_KEY_ARN to the ARN of the signing key (an output of ' +
      'the stateful stack), or AUDIT_SIGNING_KEY_FILE to a file for a key of this machine',
    { code: 'configuration' },
  )
}
