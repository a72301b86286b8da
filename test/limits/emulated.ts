import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { beforeAll } from 'vitest'
import { composeLimits } from '../../lib/compose/limits.ts'
import { systemClock } from '../../lib/core/clock.ts'
import { silentLog } from '../../lib/core/log.ts'
import { noMetrics } from '../../lib/core/metrics.ts'
import { createSqs } from '../../lib/stores/sqs.ts'
import { type Emulated, useEmulators } from '../stores/emulated.ts'

/** Provisioning against the emulators. */
export type EmulatedLimits = ReturnType<typeof composeLimits> & {
  emulated: Emulated
  variables: Record<string, string>
}

/** Starts the emulators with the table and queues of credit limits, for one test file. */
export function useEmulatedLimits(): () => EmulatedLimits {
  const emulators = useEmulators()
  let limits: EmulatedLimits | undefined
  beforeAll(async () => {
    const emulated = emulators()
    const { environment, endpointUrl, credentials } = emulated.emulators
    const sqs = createSqs({ region: 'us-east-1', endpointUrl, credentials })
    const variables = environment
    const runtime = { log: silentLog, metrics: noMetrics, clock: systemClock, clients: emulated, sqs }
    limits = { ...composeLimits(variables, runtime), emulated, variables }
  })
  return () => {
    if (!limits) throw new Error('the emulators are not started yet')
    return limits
  }
}

let sent = 0

/** Puts a text on a queue, as any producer would; answers the name that the queue gives it. */
export async function send(sqs: SQSClient, queueUrl: string, body: string): Promise<string | undefined> {
  const ids = { MessageGroupId: 'credit-limits', MessageDeduplicationId: `test-${++sent}` }
  const { MessageId } = await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body, ...ids }))
  return MessageId
}
