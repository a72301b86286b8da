import { createWatch } from '../audit/changes/watch.ts'
import { configuredRules } from '../audit/changes/watch-rules.ts'
import { type AuditLook, createAuditLook } from '../audit/look.ts'
import { readVariables, type Variables } from '../core/env.ts'
import { createDynamoHead } from '../stores/audit-head.ts'
import { fileKeyIds } from '../stores/file-signer.ts'
import { createKmsSigner } from '../stores/kms-signer.ts'
import { createObjectStore } from '../stores/objects.ts'
import { createStorageClients } from '../stores/storage.ts'
import { AuditEnvironment, noSigner, placeOf } from './audit.ts'
import { cloudOf, type Runtime, targetOf } from './runtime.ts'

/**
 * Builds what only looking at the audit trail needs; null without a bucket for it. It makes no key.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeAuditLook(variables: Variables, runtime: Runtime) {
  const env = readVariables(AuditEnvironment, variables)
  const { s3, dynamodb, destroy } = runtime.clients ?? createStorageClients(targetOf(env, runtime))
  const { AUDIT_BUCKET: bucket, STATE_TABLE: table, LAKE_BUCKET } = env
  const look: AuditLook | null = bucket
    ? createAuditLook({
        store: createObjectStore({ s3, bucket }),
        work: createObjectStore({ s3, bucket: LAKE_BUCKET }),
        head: createDynamoHead({ dynamodb, table }),
        watch: createWatch(configuredRules(env.AUDIT_WATCH_RULES)),
        signingKeyIds: keyIdsOf(env),
      })
    : null
  return { look, place: placeOf(env), close: destroy }
}

function keyIdsOf(env: AuditEnvironment): () => Promise<string[]> {
  const { AUDIT_SIGNING_KEY_ARN: keyArn, AUDIT_SIGNING_KEY_FILE: file } = env
  if (keyArn) {
    const signer = createKmsSigner({ target: cloudOf(env), keyArn })
    return async () => [await signer.keyId()]
  }
  if (file) return async () => fileKeyIds(file)
  throw noSigner()
}
