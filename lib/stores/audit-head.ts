import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { ChainHeads, type HeadState, type PendingAppend } from '../audit/trail/head.ts'
import type { HeadStore } from '../audit/trail/ports.ts'
import { FatalError } from '../core/errors.ts'
import { ofKnownForm } from '../core/form.ts'
import { callAws, isConditionFailure } from './aws-errors.ts'

const key = { pk: 'audit', sk: 'head' }

/** The head of the trail as an item of the state table, in which the heads of the chains are called marks. */
export function createDynamoHead({ dynamodb, table }: { dynamodb: DynamoDBClient; table: string }): HeadStore {
  const documents = DynamoDBDocumentClient.from(dynamodb)
  return {
    read: () =>
      callAws({ what: `read the audit head in table ${table}` }, async () => {
        const { Item } = await documents.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))
        return Item ? { version: Number(Item.version), state: stateOf(Item) } : null
      }),
    write: (state, version) =>
      callAws({ what: `write the audit head in table ${table}` }, async () => {
        try {
          await documents.send(new PutCommand({ TableName: table, ...putInput(state, version) }))
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
      version: version + 1,
      marks: JSON.stringify(heads),
      reported: JSON.stringify(reported),
      ...(pending ? pendingItem(pending) : {}),
    },
    ...(version === 0
      ? { ConditionExpression: 'attribute_not_exists(pk)' }
      : {
          ConditionExpression: 'version = :version',
          ExpressionAttributeValues: { ':version': version },
        }),
  }
}

/** `form` is that of the item and of the chains; its `version` counts the writes. */
type PendingItem = { nextMarks?: string; packed?: Uint8Array; staged?: string; form?: number }

function pendingItem({ next, writes }: PendingAppend): PendingItem {
  return {
    nextMarks: JSON.stringify(next),
    ...('packed' in writes ? { packed: writes.packed } : { staged: writes.staged }),
  }
}

const Reported = z.object({ entries: z.int(), findings: z.int() })

function stateOf(item: PendingItem & { marks?: string; reported?: string }): HeadState {
  const { marks = '', reported = '', nextMarks, packed, staged, form } = item
  ofKnownForm({ version: form }, { what: 'audit trail' })
  try {
    const writes = packed ? { packed } : staged ? { staged } : null
    return {
      heads: ChainHeads.parse(JSON.parse(marks)),
      reported: Reported.parse(JSON.parse(reported)),
      pending: writes && nextMarks ? { next: ChainHeads.parse(JSON.parse(nextMarks)), writes } : null,
    }
  } catch (cause) {
    const message = 'the audit head in the state table (pk "audit", sk "head") can\'t be read; restore the item'
    throw new FatalError(message, { code: 'damaged_state', cause })
  }
}
