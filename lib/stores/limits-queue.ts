import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { sha256 } from '../core/hash.ts'
import { messageGroup } from '../limits/intake/publisher.ts'
import type { IntentQueue, MessagePauses } from '../limits/ports.ts'
import { callAws } from './aws-errors.ts'

/** A queue: what both the emulator and the stack create. */
export type QueueShape = { readonly name: string; readonly variable: string; readonly doc: string }

/** Intents on their way to the worker. */
export const limitsQueue = {
  name: 'limits.fifo',
  variable: 'LIMITS_QUEUE_URL',
  doc: 'Intents of credit limits, one message group.',
} satisfies QueueShape

/** Intents that failed five times. */
export const limitsDeadLetters = {
  name: 'limits-dead-letters.fifo',
  variable: 'LIMITS_DEAD_LETTERS_URL',
  doc: 'Messages that failed five times; "platform-sync limits redrive" puts them back.',
} satisfies QueueShape

/** Receives of a message before it becomes a dead letter. */
export const maxReceives = 5

/** The longest that one batch may take: the time limit of the function. */
export const applySeconds = 60

/** The time that a message which was handed out stays hidden: AWS asks for six times what a batch may take. */
export const visibilitySeconds = 6 * applySeconds

/** The longest pause that SQS takes. */
const maxPauseSeconds = 12 * 60 * 60

/** The queue as publishers see it, on SQS. */
export function createIntentQueue({ sqs, queueUrl }: { sqs: SQSClient; queueUrl: string }): IntentQueue {
  return {
    sendBatch: (messages) =>
      callAws({ what: `send ${messages.length} messages to ${queueUrl}` }, async () => {
        const Entries = messages.map(({ id, body, groupId, deduplicationId }) => ({
          Id: id,
          MessageBody: body,
          MessageGroupId: groupId,
          MessageDeduplicationId: deduplicationId,
        }))
        const command = new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries })
        const { Successful = [], Failed = [] } = await sqs.send(command)
        return {
          taken: Successful.map(({ Id = '', MessageId = '' }) => ({ id: Id, messageId: MessageId })),
          refused: Failed.map(({ Id = '', Code = 'unknown', SenderFault = false }) => ({
            ...{ id: Id, code: Code, senderFault: SenderFault },
          })),
        }
      }),
  }
}

/** Pauses on SQS, as visibility timeouts. What SQS does not take keeps the queue's own timeout. */
export function createMessagePauses({ sqs, queueUrl }: { sqs: SQSClient; queueUrl: string }): MessagePauses {
  return {
    set: (messages) =>
      callAws({ what: `set when messages of ${queueUrl} come again` }, async () => {
        const Entries = messages.map(({ receiptHandle, pauseMs }, i) => ({
          Id: String(i),
          ReceiptHandle: receiptHandle,
          VisibilityTimeout: Math.min(maxPauseSeconds, Math.ceil(pauseMs / 1000)),
        }))
        if (Entries.length > 0) await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries }))
      }),
  }
}

const counted = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
] as const

/** Counts the messages on a queue as far as SQS knows, those that are handed out or hidden included. */
export function messagesOn(sqs: SQSClient, queueUrl: string): Promise<number> {
  return callAws({ what: `count the messages of ${queueUrl}` }, async () => {
    const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [...counted] })
    const { Attributes = {} } = await sqs.send(command)
    return counted.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0)
  })
}

/** A message that failed too often, as it lies in the dead-letter queue. */
export type DeadLetter = { messageId: string; body: string }

/** The time that a dead letter which is being moved stays hidden from others. */
const movingSeconds = 60

/**
 * Puts dead letters back on the queue, oldest first, and yields each that was moved. A death between sending and
 * deleting moves one twice, which applies nothing twice. What was waiting at the start is moved, and no more.
 */
export async function* redriveDeadLetters(deps: {
  sqs: SQSClient
  queueUrl: string
  deadLettersUrl: string
}): AsyncGenerator<DeadLetter> {
  const { sqs, queueUrl, deadLettersUrl } = deps
  const seen = new Set<string>()
  for (;;) {
    const letters = await receive(sqs, deadLettersUrl)
    if (letters.length === 0) return
    for (const { MessageId: messageId = '', Body: body = '', ReceiptHandle } of letters) {
      if (seen.has(messageId)) return
      seen.add(messageId)
      const MessageDeduplicationId = sha256(`redrive ${messageId}`)
      const message = { MessageBody: body, MessageGroupId: messageGroup, MessageDeduplicationId }
      await callAws({ what: `put a dead letter back on ${queueUrl}` }, () =>
        sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, ...message })),
      )
      await callAws({ what: `remove a dead letter from ${deadLettersUrl}` }, () =>
        sqs.send(new DeleteMessageCommand({ QueueUrl: deadLettersUrl, ReceiptHandle })),
      )
      yield { messageId, body }
    }
  }
}

function receive(sqs: SQSClient, queueUrl: string): Promise<Message[]> {
  return callAws({ what: `receive from ${queueUrl}` }, async () => {
    const input = { QueueUrl: queueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: movingSeconds, WaitTimeSeconds: 1 }
    return (await sqs.send(new ReceiveMessageCommand(input))).Messages ?? []
  })
}
