import { CreateQueueCommand, GetQueueAttributesCommand, GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { hookDeadLetters, hookQueue, hookReceives, hookVisibilitySeconds } from '../../stores/hook-queue.ts'
import {
  limitsDeadLetters,
  limitsQueue,
  maxReceives,
  type QueueShape,
  visibilitySeconds,
} from '../../stores/limits-queue.ts'

type NameOf = (shape: { name: string }) => string

/** Creates the queues that are missing, and answers the variables that hold their addresses. */
export async function createQueues(sqs: SQSClient, nameOf: NameOf): Promise<Record<string, string>> {
  const limits = { visibilitySeconds, maxReceives, more: { FifoQueue: 'true' } }
  const hooks = { visibilitySeconds: hookVisibilitySeconds, maxReceives: hookReceives, more: {} }
  const create = async (shape: QueueShape, deadLetters: QueueShape, terms: Terms) => {
    const dead = await createQueue(sqs, nameOf(deadLetters), terms.more)
    const { Attributes } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: dead, AttributeNames: ['QueueArn'] }),
    )
    const queue = await createQueue(sqs, nameOf(shape), {
      ...terms.more,
      VisibilityTimeout: String(terms.visibilitySeconds),
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: Attributes?.QueueArn,
        maxReceiveCount: String(terms.maxReceives),
      }),
    })
    return { [shape.variable]: queue, [deadLetters.variable]: dead }
  }
  return {
    ...(await create(limitsQueue, limitsDeadLetters, limits)),
    ...(await create(hookQueue, hookDeadLetters, hooks)),
  }
}

/** Finds the addresses of queues that are there, without making any. */
export async function findQueues(sqs: SQSClient, nameOf: NameOf): Promise<Record<string, string>> {
  const shapes = [limitsQueue, limitsDeadLetters, hookQueue, hookDeadLetters]
  const found: Record<string, string> = {}
  for (const shape of shapes) {
    const { QueueUrl = '' } = await sqs.send(new GetQueueUrlCommand({ QueueName: nameOf(shape) }))
    found[shape.variable] = QueueUrl
  }
  return found
}

type Terms = { visibilitySeconds: number; maxReceives: number; more: Record<string, string> }

async function createQueue(sqs: SQSClient, QueueName: string, Attributes: Record<string, string>): Promise<string> {
  return (await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl ?? ''
}
