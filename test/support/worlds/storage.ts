import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AttributeValue, BatchWriteItemCommand, type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand, type SQSClient } from '@aws-sdk/client-sqs'
import dynalite from 'dynalite'
import { buildApp } from 'fauxqs'
import { localCredentials } from '../../../lib/local/emulators/prepare.ts'
import { createTable } from '../../../lib/local/emulators/tables.ts'
import { hooksTable } from '../../../lib/stores/hook-claims.ts'
import { hookQueue } from '../../../lib/stores/hook-queue.ts'
import { recordsTable, stateTable, type TableShape } from '../../../lib/stores/resources.ts'
import { createSqs } from '../../../lib/stores/sqs.ts'
import { localClients } from '../../stores/clients.ts'
import type { Clients } from './connections.ts'

/** An item as DynamoDB holds it. */
export type Item = Record<string, AttributeValue>

/** All that is stored, at an instant. */
export type Contents = { state: Item[]; records: Item[]; hooks: Item[]; objects: Map<string, Buffer> }

/** DynamoDB, S3 and a queue in memory, behind real sockets, with their contents open. */
export type Storage = {
  /** The variables under which a process works against it; names of tables and queue change with each `reset`. */
  environment(): Record<string, string>
  clients(): Required<Clients>
  read(): Promise<Contents>
  /** Replaces everything by these contents; nothing is on the queue. */
  reset(contents: Contents): Promise<void>
  close(): Promise<void>
}

/** Storage that holds nothing. */
export const nothing: Contents = { state: [], records: [], hooks: [], objects: new Map() }

const bucket = 'lake'

/** Starts storage for a test file. */
export async function startStorage(): Promise<Storage> {
  const dynamo = (dynalite as unknown as (options: object) => ReturnType<typeof dynalite>)({
    createTableMs: 0,
    deleteTableMs: 0,
  })
  await new Promise<void>((resolve) => dynamo.listen(0, '127.0.0.1', resolve))
  const dynamoUrl = `http://127.0.0.1:${(dynamo.address() as AddressInfo).port}`
  const store = await newS3Store()
  store.createBucket(bucket)
  const s3 = buildApp({ logger: false, stores: { s3Store: store } as never })
  const s3Url = await s3.listen({ port: 0, host: '127.0.0.1' })
  const clients = (): Required<Clients> => {
    const [forTables, forObjects] = [localClients(dynamoUrl), localClients(s3Url)]
    const sqs = createSqs({ region: 'us-east-1', endpointUrl: s3Url, credentials: localCredentials })
    const destroy = () => [forTables, forObjects, sqs].forEach((some) => void some.destroy())
    return { dynamodb: forTables.dynamodb, s3: forObjects.s3, sqs, destroy }
  }
  const own = clients()
  const dir = mkdtempSync(join(tmpdir(), 'worlds-signing-'))
  let generation = 0
  let queueUrl = ''
  const tableOf = ({ name }: TableShape) => `${name}-${generation}`

  return {
    clients,
    environment: () => ({
      AWS_REGION: 'us-east-1',
      STATE_TABLE: tableOf(stateTable),
      RECORDS_TABLE: tableOf(recordsTable),
      HOOKS_TABLE: tableOf(hooksTable),
      HOOKS_QUEUE_URL: queueUrl,
      LAKE_BUCKET: bucket,
      // No key of the one is a key of the other.
      AUDIT_BUCKET: bucket,
      AUDIT_SIGNING_KEY_FILE: join(dir, 'signing-key.pem'),
    }),
    read: async () => ({
      state: await scan(own.dynamodb, tableOf(stateTable)),
      records: await scan(own.dynamodb, tableOf(recordsTable)),
      hooks: await scan(own.dynamodb, tableOf(hooksTable)),
      objects: new Map(store.listObjects(bucket, { maxKeys: 1_000_000 }).objects.map(({ key, body }) => [key, body])),
    }),
    reset: async ({ state, records, hooks, objects }) => {
      generation += 1
      store.clearObjects()
      for (const [key, body] of objects) store.putObject(bucket, key, body)
      queueUrl = await createQueue(own.sqs, `${hookQueue.name}-${generation}`)
      for (const [shape, items] of [
        [stateTable, state],
        [recordsTable, records],
        [hooksTable, hooks],
      ] as const) {
        await createTable(own.dynamodb, shape, tableOf(shape))
        await fill(own.dynamodb, tableOf(shape), items)
      }
    },
    close: async () => {
      own.destroy()
      rmSync(dir, { recursive: true, force: true })
      await s3.close()
      dynamo.closeAllConnections()
      await new Promise<void>((resolve) => dynamo.close(() => resolve()))
    },
  }
}

type S3Object = { key: string; body: Buffer }
type S3Store = {
  createBucket(name: string): void
  putObject(bucket: string, key: string, body: Buffer): void
  clearObjects(): void
  listObjects(bucket: string, options: { maxKeys: number }): { objects: S3Object[] }
}

/** fauxqs exports no way to look into its memory. */
async function newS3Store(): Promise<S3Store> {
  const { S3Store } = (await import(new URL('s3/s3Store.js', import.meta.resolve('fauxqs')).href)) as {
    S3Store: new () => S3Store
  }
  return new S3Store()
}

/** A queue that hands out a message again as soon as it is asked: the time that it would be hidden has always passed. */
async function createQueue(sqs: SQSClient, QueueName: string): Promise<string> {
  const { QueueUrl = '' } = await sqs.send(
    new CreateQueueCommand({ QueueName, Attributes: { VisibilityTimeout: '0' } }),
  )
  return QueueUrl
}

async function scan(dynamodb: DynamoDBClient, TableName: string): Promise<Item[]> {
  return (await dynamodb.send(new ScanCommand({ TableName, ConsistentRead: true }))).Items ?? []
}

async function fill(dynamodb: DynamoDBClient, table: string, items: Item[]) {
  for (let from = 0; from < items.length; from += 25) {
    const puts = items.slice(from, from + 25).map((Item) => ({ PutRequest: { Item } }))
    await dynamodb.send(new BatchWriteItemCommand({ RequestItems: { [table]: puts } }))
  }
}
