import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { HookQueue } from '../hooks/collector/ports.ts'
import { callAws } from './aws-errors.ts'
import type { QueueShape } from './limits-queue.ts'

/** Events on their way from machines to the lake, in no order. */
export const hookQueue = {
  name: 'hook-events',
  variable: 'HOOKS_QUEUE_URL',
  doc: 'Events that the collector took in.',
} satisfies QueueShape

/** Messages with events that failed too often. */
export const hookDeadLetters = {
  name: 'hook-events-dead-letters',
  variable: 'HOOKS_DEAD_LETTERS_URL',
  doc: 'Messages with events that failed five times.',
} satisfies QueueShape

/** Receives of a message before it becomes a dead letter. */
export const hookReceives = 5

/** The longest that one batch may take: the time limit of the function. */
export const storeSeconds = 60

/** How long events are gathered before they are written: fewer, larger objects. */
export const gatherSeconds = 60

/** The time that a message which was handed out stays hidden: AWS asks for six times what a batch may take, and the gathering. */
export const hookVisibilitySeconds = 6 * storeSeconds + gatherSeconds

/** The queue as the collector sees it, on SQS. */
export function createHookQueue({ sqs, queueUrl }: { sqs: SQSClient; queueUrl: string }): HookQueue {
  return {
    send: (body) =>
      callAws({ what: `send a message to ${queueUrl}` }, async () => {
        await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body }))
      }),
  }
}
