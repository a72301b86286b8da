import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { AwsVariables, HookTokenVariables, readVariables, type Variables } from '../core/env.ts'
import { createRateLimit, defaultRate } from '../hooks/collector/rate-limit.ts'
import type { ReceiveDeps } from '../hooks/collector/receive.ts'
import { createTokenCheck } from '../hooks/collector/tokens.ts'
import { createHookQueue } from '../stores/hook-queue.ts'
import { createSecretReader } from '../stores/secrets.ts'
import { createSqs } from '../stores/sqs.ts'
import { clockOf, cloudOf, type QueueRuntime, targetOf } from './runtime.ts'

const CollectVariables = AwsVariables.extend({
  ...HookTokenVariables.shape,
  HOOKS_QUEUE_URL: z.url(
    'is missing; set it to the address of the queue of hook events (an output of the stateful stack)',
  ),
})

/**
 * Builds what taking in hook events needs. The secret is read when the first request comes.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeCollect(variables: Variables, runtime: QueueRuntime) {
  const env = readVariables(CollectVariables, variables)
  const { HOOKS_TOKENS: tokens, HOOKS_SECRET_ID: secretId = '', HOOKS_QUEUE_URL: queueUrl } = env
  const clock = clockOf(runtime)
  const sqs = runtime.sqs ?? createSqs(targetOf(env, runtime))
  const read = tokens ? async () => tokens : secretOf(secretId, createSecretReader(cloudOf(env)))
  const receiveDeps: ReceiveDeps = {
    checkToken: createTokenCheck({ read, clock }),
    rateLimit: createRateLimit(defaultRate, clock),
    queue: createHookQueue({ sqs, queueUrl }),
    newId: randomUUID,
    ...{ clock, log: runtime.log, metrics: runtime.metrics },
  }
  return { sqs, queueUrl, receiveDeps, close: () => sqs.destroy() }
}

function secretOf(secretId: string, readSecret: (id: string) => Promise<string>) {
  return () => readSecret(secretId)
}
