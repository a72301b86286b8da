import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, paginateQuery, paginateScan } from '@aws-sdk/lib-dynamodb'
import type { Jitter } from '../core/retry.ts'
import { storageError } from './aws-errors.ts'
import { createBatchWrite } from './batch-write.ts'
import { readItems, writeItems } from './batches.ts'
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

type Deps = Jitter & { dynamodb: DynamoDBClient; table: string }

/** Batched calls on the limits table; what DynamoDB leaves undone is sent again. All reads are consistent. */
export function createLedgerItems(deps: Deps): LedgerItems {
  const { dynamodb, table, clock, random } = deps
  const documents = DynamoDBDocumentClient.from(dynamodb)
  const batchWrite = createBatchWrite({ ...deps, attributes: attributesOf })
  const common = { TableName: table, ConsistentRead: true }
  return {
    write: (items) => writeItems(distinct(items), { table, clock, random, batchWrite }),
    read: (keys) => readItems<LedgerItem>(distinct(keys), { documents, table, clock, random }),
    query: (pk, { from, to, newestFirst = false }) => {
      const condition = {
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
        ExpressionAttributeValues: { ':pk': pk, ':from': from, ':to': to },
        ScanIndexForward: !newestFirst,
      }
      const pages = paginateQuery({ client: documents }, { ...common, ...condition })
      return itemsOn(pages, `read ${pk} from table ${table}`)
    },
    scan: (sk) => {
      const filter = { FilterExpression: 'sk = :sk', ExpressionAttributeValues: { ':sk': sk } }
      return itemsOn(paginateScan({ client: documents }, { ...common, ...filter }), `read table ${table}`)
    },
  }
}

function distinct<K extends LedgerKey>(items: K[]): K[] {
  return [...new Map(items.map((item) => [`${item.pk} ${item.sk}`, item])).values()]
}

type Page = { Items?: object[] | undefined }

async function* itemsOn(pages: AsyncIterable<Page>, what: string): AsyncGenerator<LedgerItem> {
  try {
    for await (const { Items = [] } of pages) yield* Items as LedgerItem[]
  } catch (error) {
    throw storageError(error, { what })
  }
}

function attributesOf({ pk, sk, body }: LedgerItem): string {
  return `{"pk":{"S":${JSON.stringify(pk)}},"sk":{"S":${JSON.stringify(sk)}},"body":{"S":${JSON.stringify(body)}}}`
}
