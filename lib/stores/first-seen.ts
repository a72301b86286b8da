import { type AttributeValue, BatchGetItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { callAws } from './aws-errors.ts'
import { type Backoff, untilDone } from './backoff.ts'

/**
 * When the records with these keys (at most 100) were first seen; those that don't exist are left out. What DynamoDB
 * leaves unread is asked for again.
 */
export async function readFirstSeen(
  deps: Backoff & { dynamodb: DynamoDBClient; table: string },
  pks: string[],
  signal: AbortSignal,
): Promise<[pk: string, firstSeenAt: number][]> {
  const { dynamodb, table } = deps
  const context = { what: `read ${pks.length} current records from table ${table}`, signal }
  const found: [string, number][] = []
  const send = async (keys: Record<string, AttributeValue>[]) => {
    const request = { Keys: keys, ProjectionExpression: 'pk, firstSeenAt', ConsistentRead: true }
    const command = new BatchGetItemCommand({ RequestItems: { [table]: request } })
    const { Responses, UnprocessedKeys } = await dynamodb.send(command, { abortSignal: signal })
    for (const { pk, firstSeenAt } of Responses?.[table] ?? []) found.push([pk?.S ?? '', Number(firstSeenAt?.N)])
    return UnprocessedKeys?.[table]?.Keys ?? []
  }
  const keys = pks.map((pk) => ({ pk: { S: pk } }))
  await callAws(context, () => untilDone(keys, send, { ...deps, ...context }))
  return found
}
