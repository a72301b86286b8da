import * as z from 'zod'
import { AwsVariables, readVariables, type Variables } from '../core/env.ts'
import { createLedgerReader, ledgerParts } from '../stores/ledger.ts'
import { createObjectStore } from '../stores/objects.ts'
import { createPolicyStore } from '../stores/policy-store.ts'
import { createStorageClients } from '../stores/storage.ts'
import { clockOf, type Runtime, targetOf } from './runtime.ts'

const Environment = AwsVariables.extend({ LIMITS_TABLE: z.string(), INBOX_BUCKET: z.string() })

/**
 * Builds what only looking at credit limits needs: the ledger, and the plans of the policy. It knows no queue.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeLimitsLook(variables: Variables, runtime: Runtime) {
  const env = readVariables(Environment, variables)
  const clients = runtime.clients ?? createStorageClients(targetOf(env, runtime))
  const { dynamodb, s3, destroy } = clients
  const parts = ledgerParts({ dynamodb, table: env.LIMITS_TABLE, clock: clockOf(runtime), random: Math.random })
  return {
    reader: createLedgerReader(parts),
    store: createPolicyStore(createObjectStore({ s3, bucket: env.INBOX_BUCKET })),
    close: destroy,
  }
}
