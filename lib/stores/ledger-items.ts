import {
  type AttributeValue,
  BatchGetItemCommand,
  type DynamoDBClient,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb'
import { eachConcurrently, slices } from '../core/concurrency.ts'
import { callAws } from './aws-errors.ts'
import { type Backoff, untilDone } from './backoff.ts'
import { type BatchWrite, createBatchWrite } from './batch-write.ts'
import type { TableShape } from './resources.ts'

/**
 * The ledger of credit limits. `email#<identity>` holds an address: its `state` and its `outcome#…`; `log#<month>` which
 * outcomes were recorded when; `failures` why messages failed; `worker` the lease and the journal.
 */
export const limitsTable = {
  name: 'limits',
  variable: 'LIMITS_TABLE',
  doc: 'Credit limits: the current state per address, every outcome, and what the worker is about to send.',
  partitionKey: 'pk',
  sortKey: 'sk',
} satisfies TableShape

/** The key of an item. */
export type LedgerKey = { pk: string; sk: string }

/** An item; its body is JSON text. */
export type LedgerItem = LedgerKey & { body: string }

/** The calls of the ledger on its table. */
export type LedgerItems = {
  /** Writes items in batches; of two with one key the last one counts. */
  write(items: LedgerItem[]): Promise<void>
  /** Reads the items that exist, in no order. */
  read(keys: LedgerKey[]): Promise<LedgerItem[]>
  /** Reads the items of a partition from one sort key up to another. */
  query(pk: string, range: { from: string; to: string; newestFirst?: boolean }): AsyncIterable<LedgerItem>
  /** Reads all items with a sort key, wherever they are: the whole table. */
  scan(sk: string): AsyncIterable<LedgerItem>
}

type Deps = Backoff & { dynamodb: DynamoDBClient; table: string }

const itemsPerWrite = 25
const keysPerRead = 100
const callsAtOnce = 8

/** Batched calls on the limits table; what DynamoDB leaves undone is sent again. All reads are consistent. */
export function createLedgerItems(deps: Deps): LedgerItems {
  const { dynamodb, table } = deps
  const batchWrite = createBatchWrite({ ...deps, attributes: attributesOf })
  return {
    write: (items) =>
      eachConcurrently(slices(distinct(items), itemsPerWrite), callsAtOnce, (some) =>
        writeBatch(some, batchWrite, deps),
      ),
    read: async (keys) => {
      const found: LedgerItem[] = []
      await eachConcurrently(slices(distinct(keys), keysPerRead), callsAtOnce, async (some) => {
        found.push(...(await readBatch(some, deps)))
      })
      return found
    },
    query: (pk, { from, to, newestFirst = false }) => {
      const condition = {
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
        ExpressionAttributeValues: { ':pk': { S: pk }, ':from': { S: from }, ':to': { S: to } },
        ScanIndexForward: !newestFirst,
      }
      const input = { TableName: table, ConsistentRead: true, ...condition }
      const page = (start: Start) => dynamodb.send(new QueryCommand({ ...input, ...start }))
      return paged((start) => callAws({ what: `read ${pk} from table ${table}` }, () => page(start)))
    },
    scan: (sk) => {
      const filter = { FilterExpression: 'sk = :sk', ExpressionAttributeValues: { ':sk': { S: sk } } }
      const input = { TableName: table, ConsistentRead: true, ...filter }
      const page = (start: Start) => dynamodb.send(new ScanCommand({ ...input, ...start }))
      return paged((start) => callAws({ what: `read table ${table}` }, () => page(start)))
    },
  }
}

function distinct<K extends LedgerKey>(items: K[]): K[] {
  return [...new Map(items.map((item) => [`${item.pk} ${item.sk}`, item])).values()]
}

function writeBatch(
  items: LedgerItem[],
  batchWrite: BatchWrite<LedgerItem>,
  { table, clock, random }: Deps,
): Promise<void> {
  const what = `write ${items.length} items to table ${table}`
  return callAws({ what }, () => untilDone(items, (rest) => batchWrite(rest), { clock, random, what }))
}

async function readBatch(keys: LedgerKey[], { dynamodb, table, clock, random }: Deps): Promise<LedgerItem[]> {
  const what = `read ${keys.length} items from table ${table}`
  const found: LedgerItem[] = []
  const send = async (work: Attributes[]) => {
    const request = { Keys: work, ConsistentRead: true }
    const answer = await dynamodb.send(new BatchGetItemCommand({ RequestItems: { [table]: request } }))
    for (const item of answer.Responses?.[table] ?? []) found.push(itemOf(item))
    return answer.UnprocessedKeys?.[table]?.Keys ?? []
  }
  const work = keys.map(({ pk, sk }) => ({ pk: { S: pk }, sk: { S: sk } }))
  await callAws({ what }, () => untilDone(work, send, { clock, random, what }))
  return found
}

type Attributes = Record<string, AttributeValue>
type Start = { ExclusiveStartKey?: Attributes }

async function* paged(
  readPage: (start: Start) => Promise<{ Items?: Attributes[] | undefined; LastEvaluatedKey?: Attributes | undefined }>,
): AsyncGenerator<LedgerItem> {
  let start: Start = {}
  for (;;) {
    const { Items = [], LastEvaluatedKey } = await readPage(start)
    yield* Items.map(itemOf)
    if (!LastEvaluatedKey) return
    start = { ExclusiveStartKey: LastEvaluatedKey }
  }
}

function attributesOf({ pk, sk, body }: LedgerItem): string {
  return `{"pk":{"S":${JSON.stringify(pk)}},"sk":{"S":${JSON.stringify(sk)}},"body":{"S":${JSON.stringify(body)}}}`
}

function itemOf(item: Attributes): LedgerItem {
  return {
    pk: item.pk?.S ?? '',
    sk: item.sk?.S ?? '',
    body: item.body?.S ?? '',
  }
}
