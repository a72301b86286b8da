import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import { RetryableError } from '../core/errors.ts'
import type { Claim, HookClaims } from '../hooks/collector/ports.ts'
import { callAws, isConditionFailure } from './aws-errors.ts'
import type { TableShape } from './resources.ts'

/** Which message stores which event. `pk` is the event's id. */
export const hooksTable = {
  name: 'hooks',
  variable: 'HOOKS_TABLE',
  doc: 'Ids of hook events of the last 90 days: which message brought each, and where it is stored.',
  partitionKey: 'pk',
  expires: 'expiresAt',
} satisfies TableShape

type StoredClaim = Claim & { pk: string; expiresAt: number }

/** Claims in the hooks table: one conditional write each. */
export function createHookClaims({ dynamodb, table }: { dynamodb: DynamoDBClient; table: string }): HookClaims {
  const documents = DynamoDBDocumentClient.from(dynamodb)
  const put = async (Item: StoredClaim, instead: Claim | undefined): Promise<boolean> => {
    const free = 'attribute_not_exists(pk)'
    const condition = instead
      ? {
          ConditionExpression: `${free} OR (delivery = :delivery AND place = :place)`,
          ExpressionAttributeValues: { ':delivery': instead.delivery, ':place': instead.place },
        }
      : { ConditionExpression: free }
    try {
      await documents.send(new PutCommand({ TableName: table, Item, ...condition }))
      return true
    } catch (error) {
      if (isConditionFailure(error)) return false
      throw error
    }
  }
  return {
    claim: (id, { delivery, place }, { until, instead }) =>
      callAws({ what: `claim a hook event in table ${table}` }, async () => {
        const item = { pk: id, delivery, place, expiresAt: Math.ceil(until / 1000) }
        if (await put(item, instead)) return null
        const { Item } = await documents.send(
          new GetCommand({ TableName: table, Key: { pk: id }, ConsistentRead: true }),
        )
        const standing = Item as StoredClaim | undefined
        if (standing) return { delivery: standing.delivery, place: standing.place }
        throw new RetryableError(`a claim in table ${table} expired while it was read`, { code: 'storage_unavailable' })
      }),
  }
}
