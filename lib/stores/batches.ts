import {
  type AttributeValue,
  BatchGetItemCommand,
  BatchWriteItemCommand,
  type DynamoDBClient,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb'
import { callAws } from './aws-errors.ts'
import { type Backoff, untilDone } from './backoff.ts'

/** A record as an item of the records table; its body, or the key of the object that holds it. */
export type RecordItem = {
  pk: string
  hash: string
  firstSeenAt: number
  changedAt: number
} & ({ body: string } | { bodyKey: string })

/** Batched calls on the records table: what DynamoDB leaves undone is sent again. */
export type Batches = {
  /** Writes at most 25 items, each with a key of its own. */
  write(items: RecordItem[], signal: AbortSignal): Promise<void>
  /** When the records with these keys (at most 100) were first seen; those that don't exist are left out. */
  readFirstSeen(pks: string[], signal: AbortSignal): Promise<[pk: string, firstSeenAt: number][]>
}

/** Batched calls through the SDK's commands. */
export const createBatches = (deps: Backoff & { dynamodb: DynamoDBClient; table: string }): Batches => {
  const { dynamodb, table, clock, random } = deps
  return {
    write: (items, signal) => {
      const what = `write ${items.length} current records to table ${table}`
      const requests: WriteRequest[] = items.map((item) => ({ PutRequest: { Item: attributes(item) } }))
      const send = async (some: WriteRequest[]) => {
        const command = new BatchWriteItemCommand({ RequestItems: { [table]: some } })
        return (await dynamodb.send(command, { abortSignal: signal })).UnprocessedItems?.[table] ?? []
      }
      return callAws({ what, signal }, () => untilDone(requests, { clock, random, what, signal, send }))
    },
    readFirstSeen: async (pks, signal) => {
      const what = `read ${pks.length} current records from table ${table}`
      const found: [string, number][] = []
      const send = async (keys: Record<string, AttributeValue>[]) => {
        const request = { Keys: keys, ProjectionExpression: 'pk, firstSeenAt', ConsistentRead: true }
        const command = new BatchGetItemCommand({ RequestItems: { [table]: request } })
        const { Responses, UnprocessedKeys } = await dynamodb.send(command, { abortSignal: signal })
        for (const { pk, firstSeenAt } of Responses?.[table] ?? []) found.push([pk?.S ?? '', Number(firstSeenAt?.N)])
        return UnprocessedKeys?.[table]?.Keys ?? []
      }
      const keys = pks.map((pk) => ({ pk: { S: pk } }))
      await callAws({ what, signal }, () => untilDone(keys, { clock, random, what, signal, send }))
      return found
    },
  }
}

const attributes = (item: RecordItem): Record<string, AttributeValue> => ({
  pk: { S: item.pk },
  hash: { S: item.hash },
  ...('body' in item ? { body: { S: item.body } } : { bodyKey: { S: item.bodyKey } }),
  firstSeenAt: { N: String(item.firstSeenAt) },
  changedAt: { N: String(item.changedAt) },
})
