import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { type HeadState, Marks, type Pending } from '../audit/trail/head.ts'
import type { AuditHead, CallAws } from '../audit/trail/ports.ts'
import { FatalError } from '../core/errors.ts'

const key = { pk: 'audit', sk: 'head' }

type Deps = { dynamodb: DynamoDBClient; table: string; callAws: CallAws }

/** The head of the trail as an item of the state table. */
export function createDynamoHead({ dynamodb, table, callAws }: Deps): AuditHead {
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
          if ((error as Error).name === 'ConditionalCheckFailedException') return false
          throw error
        }
      }),
  }
}

function putInput({ marks, reported, pending }: HeadState, version: number) {
  return {
    Item: {
      ...key,
      version: version + 1,
      marks: JSON.stringify(marks),
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

type PendingItem = { nextMarks?: string; packed?: Uint8Array; staged?: string }

function pendingItem({ next, writes }: Pending): PendingItem {
  return {
    nextMarks: JSON.stringify(next),
    ...('packed' in writes ? { packed: writes.packed } : { staged: writes.staged }),
  }
}

const Reported = z.object({ entries: z.int(), findings: z.int() })

function stateOf(item: PendingItem & { marks?: string; reported?: string }): HeadState {
  const { marks = '', reported = '', nextMarks, packed, staged } = item
  try {
    const writes = packed ? { packed } : staged ? { staged } : null
    return {
      marks: Marks.parse(JSON.parse(marks)),
      reported: Reported.parse(JSON.parse(reported)),
      pending: writes && nextMarks ? { next: Marks.parse(JSON.parse(nextMarks)), writes } : null,
    }
  } catch (cause) {
    const message = 'the audit head in the state table (pk "audit", sk "head") can\'t be read; restore the item'
    throw new FatalError(message, { code: 'damaged_state', cause })
  }
}
