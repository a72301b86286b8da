import { CreateTableCommand, type DynamoDBClient, ListTablesCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand, GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { limitsTable } from '../limits/ledger-items.ts'
import { limitsDeadLetters, limitsQueue, maxReceives, type QueueShape, visibilitySeconds } from '../limits/queue.ts'

const localName = ({ name }: { name: string }): string => `platform-sync-${name}`

/**
 * Creates the table and the queues of credit limits in emulators, and answers the variables that name them. A lease in
 * the table is ended: the emulators' folder is this process's alone, so that whoever held it is gone.
 */
export const prepareLimits = async ({
  dynamodb,
  sqs,
}: {
  dynamodb: DynamoDBClient
  sqs: SQSClient
}): Promise<Record<string, string>> => {
  await createTable(dynamodb)
  const deadLetters = await createQueue(sqs, limitsDeadLetters, {})
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: deadLetters, AttributeNames: ['QueueArn'] }),
  )
  const queue = await createQueue(sqs, limitsQueue, {
    VisibilityTimeout: String(visibilitySeconds),
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: Attributes?.QueueArn, maxReceiveCount: String(maxReceives) }),
  })
  return {
    [limitsTable.variable]: localName(limitsTable),
    [limitsQueue.variable]: queue,
    [limitsDeadLetters.variable]: deadLetters,
  }
}

const createQueue = async (sqs: SQSClient, shape: QueueShape, attributes: Record<string, string>): Promise<string> => {
  const command = new CreateQueueCommand({
    QueueName: localName(shape),
    Attributes: { FifoQueue: 'true', ...attributes },
  })
  return (await sqs.send(command)).QueueUrl ?? ''
}

const createTable = async (dynamodb: DynamoDBClient): Promise<void> => {
  const TableName = localName(limitsTable)
  const { TableNames = [] } = await dynamodb.send(new ListTablesCommand({}))
  if (TableNames.includes(TableName)) return await endLease(dynamodb, TableName)
  const keys = [limitsTable.partitionKey, limitsTable.sortKey]
  await dynamodb.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: keys.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: keys.map((AttributeName, i) => ({ AttributeName, KeyType: i === 0 ? 'HASH' : 'RANGE' })),
    }),
  )
}

const endLease = async (dynamodb: DynamoDBClient, TableName: string): Promise<void> => {
  const Key = { pk: { S: 'worker' }, sk: { S: 'lease' } }
  const ExpressionAttributeValues = { ':past': { N: '0' } }
  try {
    await dynamodb.send(
      new UpdateItemCommand({
        TableName,
        Key,
        UpdateExpression: 'SET leaseExpiresAt = :past',
        ConditionExpression: 'attribute_exists(leaseOwner)',
        ExpressionAttributeValues,
      }),
    )
  } catch (error) {
    if ((error as Error).name !== 'ConditionalCheckFailedException') throw error
  }
}
