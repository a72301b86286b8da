import * as z from 'zod'
import { AwsVariables, readVariables, StoreVariables, type Variables } from '../core/env.ts'
import { policyPlaces } from '../limits/inbox-places.ts'
import type { KeepPolicyDeps } from '../limits/policy/keep-policy.ts'
import type { PolicyFolder } from '../limits/policy/load-policy.ts'
import { createCheckpoints } from '../stores/checkpoints.ts'
import { createIndexStore } from '../stores/index-store.ts'
import { createLedgerReader } from '../stores/ledger.ts'
import { createIntentQueue, messagesOn } from '../stores/limits-queue.ts'
import { createObjectStreams } from '../stores/object-streams.ts'
import { createObjectStore } from '../stores/objects.ts'
import { createPolicyFolder, createPolicyStore } from '../stores/policy-store.ts'
import { createUsersSource } from '../stores/policy-users.ts'
import { createRecordReader } from '../stores/records.ts'
import { createS3 } from '../stores/s3.ts'
import { createStorageClients } from '../stores/storage.ts'
import { openLimits } from './limits-ledger.ts'
import { type QueueRuntime, targetOf } from './runtime.ts'

const InboxVariables = AwsVariables.extend({
  INBOX_BUCKET: z.string('is missing; set it to the name of the inbox bucket (an output of the stateful stack)'),
})

const PolicyVariables = StoreVariables.extend(InboxVariables.shape)

/**
 * Builds what only looking at the policy needs.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composePolicyFolder(variables: Variables, runtime: QueueRuntime) {
  const env = readVariables(InboxVariables, variables)
  const s3 = createS3(targetOf(env, runtime))
  const inbox = createObjectStore({ s3, bucket: env.INBOX_BUCKET })
  return { folder: createPolicyFolder(inbox), store: createPolicyStore(inbox), close: () => s3.destroy() }
}

/** The root of whoever keeps a policy of credit limits. */
export type PolicyRoot = ReturnType<typeof composePolicy>

/**
 * Builds what keeping a policy needs: the policy and its plans in the inbox bucket, the users of the last scan, the ledger
 * and the queue.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composePolicy(variables: Variables, runtime: QueueRuntime) {
  const env = readVariables(PolicyVariables, variables)
  const { parts, sqs, queueUrl, rules, clock, close } = openLimits(variables, runtime)
  const clients = runtime.clients ?? createStorageClients(targetOf(env, runtime))
  const bodies = createObjectStore({ s3: clients.s3, bucket: env.LAKE_BUCKET })
  const inbox = createObjectStore({ s3: clients.s3, bucket: env.INBOX_BUCKET })
  const jitter = { clock, random: Math.random }
  const records = createRecordReader({ dynamodb: clients.dynamodb, table: env.RECORDS_TABLE, bodies, ...jitter })
  const checkpoints = createCheckpoints({ dynamodb: clients.dynamodb, table: env.STATE_TABLE })
  const index = createIndexStore(bodies, createObjectStreams({ s3: clients.s3, bucket: env.LAKE_BUCKET }))
  const store = createPolicyStore(inbox)
  const bucket = createPolicyFolder(inbox)
  return {
    store,
    /** Puts a file of the policy into the inbox bucket. */
    writePolicy: (name: string, bytes: Uint8Array) => inbox.put(`${policyPlaces.policy}${name}`, bytes),
    /** What keeping the policy needs; that of a folder, or by default that of the inbox bucket. */
    policyDeps: (from: { folder: PolicyFolder; file: string } | null = null): KeepPolicyDeps => ({
      ...(from ?? { folder: bucket }),
      users: createUsersSource({ checkpoints, index, records }),
      reader: createLedgerReader(parts),
      store,
      queue: createIntentQueue({ sqs, queueUrl }),
      queued: () => messagesOn(sqs, queueUrl),
      ...{ rules, log: runtime.log, metrics: runtime.metrics, ...jitter },
    }),
    close: () => {
      clients.destroy()
      close()
    },
  }
}
