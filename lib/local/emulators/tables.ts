import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  UpdateTableCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import type { TableShape } from '../../stores/resources.ts'

/** Creates a table of DynamoDB, and waits until it takes calls. */
export async function createTable(dynamodb: DynamoDBClient, shape: TableShape, name: string): Promise<void> {
  const keys = [shape.partitionKey, ...(shape.sortKey ? [shape.sortKey] : [])]
  await dynamodb.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: keys.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: keys.map((AttributeName, i) => ({ AttributeName, KeyType: i === 0 ? 'HASH' : 'RANGE' })),
    }),
  )
  await waitUntilReady(dynamodb, name)
}

/**
 * Makes a table ready that a process was making when it was killed. The emulator writes first that a table is being made,
 * then that it is there, and goes on with neither at its next start. How a table is paid for means nothing here, but a
 * change of that completes it.
 */
export async function completeTable(dynamodb: DynamoDBClient, name: string): Promise<void> {
  const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: name }))
  if (Table?.TableStatus !== 'CREATING') return
  const ProvisionedThroughput = { ReadCapacityUnits: 1, WriteCapacityUnits: 1 }
  const change = { BillingMode: 'PROVISIONED', ProvisionedThroughput } as const
  await dynamodb.send(new UpdateTableCommand({ TableName: name, ...change }))
  await waitUntilReady(dynamodb, name)
}

/** It takes an instant, but not none. */
async function waitUntilReady(client: DynamoDBClient, TableName: string): Promise<void> {
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.005, maxDelay: 0.1 }, { TableName })
}
