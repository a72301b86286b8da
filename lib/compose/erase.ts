import { createHmac, randomUUID } from 'node:crypto'
import * as z from 'zod'
import {
  AuditVariables,
  MessagesVariables,
  PublishVariables,
  RedactionVariables,
  readVariables,
  StoreVariables,
  type Variables,
} from '../core/env.ts'
import type { EraseDeps } from '../erase/ports.ts'
import { defaultFileSize, defaultProgressMs } from '../publish/iceberg/ports.ts'
import { createTableRemaker } from '../publish/iceberg/remake.ts'
import { createHasher } from '../redaction/personal/hashing.ts'
import { contents } from '../stores/erase-contents.ts'
import { createItems } from '../stores/erase-items.ts'
import { createChangeableLists } from '../stores/erase-lists.ts'
import { createObjectStore } from '../stores/objects.ts'
import { createVersionedBucket } from '../stores/old-versions.ts'
import { createPublications } from '../stores/publications.ts'
import { rowFiles } from '../stores/row-files.ts'
import { createSavedPlans } from '../stores/saved-plans.ts'
import { createSecretReader } from '../stores/secrets.ts'
import { streamsAsRead } from '../streams/index.ts'
import { defaultSettings } from '../sync/context.ts'
import { pointersOf } from './pointers.ts'
import { cloudOf, newOwner, type Runtime } from './runtime.ts'
import { openStores } from './stores.ts'

const EraseVariables = StoreVariables.extend({
  ...PublishVariables.shape,
  ...RedactionVariables.shape,
  ...MessagesVariables.shape,
  ...AuditVariables.pick({ AUDIT_BUCKET: true }).shape,
  LIMITS_TABLE: z.string().optional(),
  INBOX_BUCKET: z.string().optional(),
  LIMITS_PLANS_FOLDER: z.string().optional(),
})

/**
 * Builds what erasing a person needs: every place where something is kept. Places that are not configured are not looked at.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeErase(variables: Variables, runtime: Runtime) {
  const env = readVariables(EraseVariables, variables)
  const { clients, objects, checkpoints, clock, close } = openStores(env, runtime)
  const { s3, dynamodb } = clients
  const { LAKE_BUCKET: bucket, INBOX_BUCKET: inbox, LIMITS_TABLE: limits, AUDIT_BUCKET: audit } = env
  const lists = createChangeableLists(objects)
  const streams = streamsAsRead({ messages: true })
  const { address, pointers } = pointersOf(env, objects)
  const retention = { days: env.SNAPSHOT_DAYS, snapshots: env.SNAPSHOT_COUNT }
  const tables = createTableRemaker({
    ...{ files: objects, rows: rowFiles, pointers, streams, history: lists.readFiles, address, retention },
    ...{ fileSize: defaultFileSize, progressMs: defaultProgressMs, clock, newAttempt: randomUUID },
  })
  const deps: Omit<EraseDeps, 'fingerprint' | 'hashedForm'> = {
    lake: createVersionedBucket({ s3, bucket }),
    inbox: inbox ? createVersionedBucket({ s3, bucket: inbox }) : null,
    savedPlans: createSavedPlans(env.LIMITS_PLANS_FOLDER ?? '.local/plans'),
    records: createItems({ dynamodb, table: env.RECORDS_TABLE }),
    state: createItems({ dynamodb, table: env.STATE_TABLE }),
    limits: limits ? createItems({ dynamodb, table: limits }) : null,
    audit: audit ? createObjectStore({ s3, bucket: audit }) : null,
    publications: createPublications({ dynamodb, table: env.STATE_TABLE }),
    ...{ lists, contents, tables, checkpoints, streams, clock, newOwner, leaseMs: defaultSettings.leaseMs },
  }
  const readSecret = createSecretReader(cloudOf(env))
  return {
    /** What erasing needs. Its key is that of redaction: what was hashed with it is found with it. */
    eraseDeps: async () => {
      const key = env.REDACTION_KEY ?? (await readSecret(env.REDACTION_SECRET_ID as string))
      return { ...deps, ...fingerprintsUnder(key), log: runtime.log }
    },
    close,
  }
}

/** The two kinds of fingerprints of an address are kept apart: one of them stands in records, and would be erased with them. */
function fingerprintsUnder(key: string): Pick<EraseDeps, 'fingerprint' | 'hashedForm'> {
  const hash = createHasher(key)
  return {
    fingerprint: (address) => createHmac('sha256', key).update('erased\n').update(address).digest('hex').slice(0, 16),
    hashedForm: (address) => hash(address) as string,
  }
}
