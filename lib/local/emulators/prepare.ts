import {
  type AttributeValue,
  type DynamoDBClient,
  ListTablesCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { CreateBucketCommand, ListBucketsCommand, type S3Client } from '@aws-sdk/client-s3'
import type { AwsCredentials } from '../../stores/clients.ts'
import { hooksTable } from '../../stores/hook-claims.ts'
import { limitsTable } from '../../stores/ledger-items.ts'
import {
  auditBucket,
  type BucketShape,
  inboxBucket,
  lakeBucket,
  recordsTable,
  stateTable,
  type TableShape,
} from '../../stores/resources.ts'
import { createSqs } from '../../stores/sqs.ts'
import { createStorageClients } from '../../stores/storage.ts'
import { createQueues, findQueues } from './queues.ts'
import { completeTable, createTable } from './tables.ts'

const tables: readonly TableShape[] = [stateTable, recordsTable, limitsTable, hooksTable]
const buckets: readonly BucketShape[] = [lakeBucket, auditBucket, inboxBucket]
const region = 'us-east-1'

/** The emulators check no signature, but the SDK wants to make one. */
export const localCredentials: AwsCredentials = { accessKeyId: 'local', secretAccessKey: 'local' }

/** The name a table or bucket has on this machine. */
function localName({ name }: { name: string }): string {
  return `platform-sync-${name}`
}

/** The environment of those who work against emulators at an address. */
export function localEnvironment(endpointUrl: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL: endpointUrl,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
    ...Object.fromEntries([...tables, ...buckets].map((shape) => [shape.variable, localName(shape)])),
  }
}

/**
 * Creates the tables, buckets and queues that are missing, and ends the leases that a killed process left behind. Answers
 * what handlers and commands read from the environment to work with them.
 */
export async function prepareResources(endpointUrl: string): Promise<Record<string, string>> {
  const environment = localEnvironment(endpointUrl)
  const target = { region, endpointUrl, credentials: localCredentials }
  const [clients, sqs] = [createStorageClients(target), createSqs(target)]
  try {
    await createTables(clients.dynamodb)
    await createBuckets(clients.s3)
    for (const shape of [stateTable, limitsTable]) await endLeases(clients.dynamodb, localName(shape))
    return { ...environment, ...(await createQueues(sqs, localName)) }
  } finally {
    clients.destroy()
    sqs.destroy()
  }
}

/** The addresses of queues that another process made. */
export async function findResources(endpointUrl: string): Promise<Record<string, string>> {
  const sqs = createSqs({ region, endpointUrl, credentials: localCredentials })
  try {
    return await findQueues(sqs, localName)
  } finally {
    sqs.destroy()
  }
}

async function createTables(dynamodb: DynamoDBClient): Promise<void> {
  const { TableNames = [] } = await dynamodb.send(new ListTablesCommand({}))
  for (const shape of tables) {
    const name = localName(shape)
    if (TableNames.includes(name)) await completeTable(dynamodb, name)
    else await createTable(dynamodb, shape, name)
  }
}

async function createBuckets(s3: S3Client): Promise<void> {
  const { Buckets = [] } = await s3.send(new ListBucketsCommand({}))
  const existing = new Set(Buckets.map(({ Name }) => Name))
  for (const shape of buckets) {
    if (existing.has(localName(shape))) continue
    await s3.send(new CreateBucketCommand({ Bucket: localName(shape) }))
  }
}

/** The folder is this process's alone, so that whoever held a lease is gone. */
async function endLeases(dynamodb: DynamoDBClient, TableName: string): Promise<void> {
  let start: Record<string, AttributeValue> | undefined
  do {
    const page = await dynamodb.send(
      new ScanCommand({
        TableName,
        FilterExpression: 'attribute_exists(leaseOwner)',
        ...(start ? { ExclusiveStartKey: start } : {}),
      }),
    )
    for (const { pk, sk } of page.Items ?? []) {
      await dynamodb.send(
        new UpdateItemCommand({
          TableName,
          Key: { pk: pk!, sk: sk! },
          UpdateExpression: 'SET leaseExpiresAt = :past',
          ExpressionAttributeValues: { ':past': { N: '0' } },
        }),
      )
    }
    start = page.LastEvaluatedKey
  } while (start)
}
