import * as z from 'zod'
import type { Deadline } from '../core/deadline.ts'
import { AwsVariables, PlatformVariables, readVariables, type Variables } from '../core/env.ts'
import type { BatchDeps } from '../limits/apply/apply-batch.ts'
import type { LimitsApi } from '../limits/ports.ts'
import type { PlatformClient } from '../platform/client.ts'
import { createLedger } from '../stores/ledger.ts'
import { createMessagePauses } from '../stores/limits-queue.ts'
import { createSecretReader } from '../stores/secrets.ts'
import type { StorageClients } from '../stores/storage.ts'
import { openLimits } from './limits-ledger.ts'
import { platformOf } from './platform.ts'
import { cloudOf, newOwner, type QueueRuntime, type Runtime } from './runtime.ts'

/**
 * Builds what applying intents of credit limits needs.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeApply(variables: Variables, runtime: QueueRuntime) {
  return applyingOf(openLimits(variables, runtime), { variables, runtime })
}

/** Applying over a ledger that is open already. */
export function applyingOf(
  { dynamodb, parts, sqs, queueUrl, rules, clock }: ReturnType<typeof openLimits>,
  { variables, runtime }: { variables: Variables; runtime: Runtime },
) {
  const { log, metrics } = runtime
  return {
    /** The platform, as the environment says. @throws FatalError `configuration` */
    platform: () => platformIn(variables, runtime, dynamodb),
    /** What applying messages needs; the deadline is the invocation's. */
    applyDeps: (api: LimitsApi, deadline: Deadline): BatchDeps => ({
      api,
      ledger: createLedger(parts),
      pauses: createMessagePauses({ sqs, queueUrl }),
      ...{ rules, clock, deadline, log, metrics, newOwner },
    }),
  }
}

/** Without the state table, limits are set at a rate of their own. */
const ApplyVariables = PlatformVariables.extend({ ...AwsVariables.shape, STATE_TABLE: z.string().optional() })

function platformIn(variables: Variables, runtime: Runtime, dynamodb: StorageClients['dynamodb']): PlatformClient {
  const env = readVariables(ApplyVariables, variables)
  return platformOf(env, runtime, {
    readSecret: createSecretReader(cloudOf(env)),
    state: env.STATE_TABLE ? { dynamodb, table: env.STATE_TABLE } : null,
  })
}
