import { type AttributeValue, type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { callAws } from './aws-errors.ts'

/** A lease must outlast the read of the whole table, so that it is read in several places at once. */
const scansAtOnce = 8

/** A digest stands for a primary key that is too long (`recordKey`): the key itself can't be told from it. */
const digest = /^sha256:[0-9a-f]{64}$/

type Place = { segment: number; after: Record<string, AttributeValue> | undefined }

/** The keys of the records under a prefix of the partition key that are not deleted. Reads all of the table. */
export async function* liveKeys(
  deps: { dynamodb: DynamoDBClient; table: string },
  prefix: string,
  signal: AbortSignal,
): AsyncIterable<string> {
  let places = Array.from({ length: scansAtOnce }, (_, segment): Place => ({ segment, after: undefined }))
  while (places.length > 0) {
    const pages = await Promise.all(places.map((place) => readPage(deps, { ...place, prefix, signal })))
    for (const { keys } of pages) for (const key of keys) if (!digest.test(key)) yield key
    places = pages.map(({ next }) => next).filter(({ after }) => after !== undefined)
  }
}

function readPage(
  { dynamodb, table }: { dynamodb: DynamoDBClient; table: string },
  { segment, after, prefix, signal }: Place & { prefix: string; signal: AbortSignal },
): Promise<{ keys: string[]; next: Place }> {
  return callAws({ what: `read the keys of ${prefix} from table ${table}`, signal }, async () => {
    const command = new ScanCommand({
      TableName: table,
      Segment: segment,
      TotalSegments: scansAtOnce,
      ExclusiveStartKey: after,
      ConsistentRead: true,
      FilterExpression: 'begins_with(pk, :prefix) AND attribute_not_exists(deletedAt)',
      ExpressionAttributeValues: { ':prefix': { S: prefix } },
      ProjectionExpression: 'pk',
    })
    const { Items = [], LastEvaluatedKey } = await dynamodb.send(command, { abortSignal: signal })
    return {
      keys: Items.map(({ pk }) => pk?.S?.slice(prefix.length) ?? ''),
      next: { segment, after: LastEvaluatedKey },
    }
  })
}
