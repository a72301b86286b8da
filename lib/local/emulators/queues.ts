import { CreateQueueCommand, GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { limitsDeadLetters, limitsQueue, maxReceives, visibilitySeconds } from '../../stores/limits-queue.ts'

type NameOf = (shape: { name: string }) => string

/** Creates the queues of credit limits, if they are missing, and answers the variables that hold their addresses. */
export async function createQueues(sqs: SQSClient, nameOf: NameOf): Promise<Record<string, string>> {
  const deadLetters = await createQueue(sqs, nameOf(limitsDeadLetters))
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: deadLetters, AttributeNames: ['QueueArn'] }),
  )
  const queue = await createQueue(sqs, nameOf(limitsQueue), {
    VisibilityTimeout: String(visibilitySeconds),
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: Attributes?.QueueArn, maxReceiveCount: String(maxReceives) }),
  })
  return { [limitsQueue.variable]: queue, [limitsDeadLetters.variable]: deadLetters }
}

async function createQueue(sqs: SQSClient, QueueName: string, more: Record<string, string> = {}): Promise<string> {
  const command = new CreateQueueCommand({ QueueName, Attributes: { FifoQueue: 'true', ...more } })
  return (await sqs.send(command)).QueueUrl ?? ''
}
