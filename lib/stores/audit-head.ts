import { type AttributeValue, type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import * as z from 'zod'
import { ChainHeads, type HeadState, type PendingAppend } from '../audit/trail/head.ts'
import type { HeadStore } from '../audit/trail/ports.ts'
import { FatalError } from '../core/errors.ts'
import { callAws, isConditionFailure } from './aws-errors.ts'

const key = { pk: { S: 'audit' }, sk: { S: 'head' } }

/** The head of the trail as an item of the state table, in which the heads of the chains are called marks. */
export function createDynamoHead({ dynamodb, table }: { dynamodb: DynamoDBClient; table: string }): HeadStore {
  return {
    read: () =>
      callAws({ what: `read the audit head in table ${table}` }, async () => {
        const { Item } = await dynamodb.send(new GetItemCommand({ TableName: table, Key: key, ConsistentRead: true }))
        return Item ? { version: Number(Item.version?.N), state: stateOf(Item) } : null
      }),
    write: (state, version) =>
      callAws({ what: `write the audit head in table ${table}` }, async () => {
        try {
          await dynamodb.send(new PutItemCommand({ TableName: table, ...putInput(state, version) }))
          return true
        } catch (error) {
          if (isConditionFailure(error)) return false
          throw error
        }
      }),
  }
}

function putInput({ heads, reported, pending }: HeadState, version: number) {
  return {
    Item: {
      ...key,
      version: { N: String(version + 1) },
      marks: { S: JSON.stringify(heads) },
      reported: { S: JSON.stringify(reported) },
      ...(pending ? pendingItem(pending) : {}),
    },
    ...(version === 0
      ? { ConditionExpression: 'attribute_not_exists(pk)' }
      : {
          ConditionExpression: 'version = :version',
          ExpressionAttributeValues: { ':version': { N: String(version) } },
        }),
  }
}

function pendingItem({ next, writes }: PendingAppend): Record<string, AttributeValue> {
  return {
    nextMarks: { S: JSON.stringify(next) },
    ...('packed' in writes ? { packed: { B: writes.packed } } : { staged: { S: writes.staged } }),
  }
}

const Reported = z.object({ entries: z.int(), findings: z.int() })

function stateOf({ marks, reported, nextMarks, packed, staged }: Record<string, AttributeValue>): HeadState {
  try {
    const writes = packed?.B ? { packed: packed.B } : staged?.S ? { staged: staged.S } : null
    return {
      heads: ChainHeads.parse(JSON.parse(marks?.S ?? '')),
      reported: Reported.parse(JSON.parse(reported?.S ?? '')),
      pending: writes && nextMarks?.S ? { next: ChainHeads.parse(JSON.parse(nextMarks.S)), writes } : null,
    }
  } catch (cause) {
    const message = 'the audit head in the state table (pk "audit", sk "head") can\'t be read; restore the item'
    throw new FatalError(message, { code: 'damaged_state', cause })
  }
}
