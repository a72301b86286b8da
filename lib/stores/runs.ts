import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandOutput,
} from '@aws-sdk/lib-dynamodb'
import { RunRecord } from '../publish/manifest.ts'
import type { Runs } from '../publish/ports.ts'
import { callAws, isConditionFailure } from './aws-errors.ts'
import { stateTable } from './resources.ts'

const partition = 'run'

/** How long the record of a run is kept. The lake has what it published for ever. */
const keptMs = 400 * 24 * 3_600_000

function keyOf({ scheduledAt, runId }: { scheduledAt: number; runId: string }) {
  return { pk: partition, sk: `${new Date(scheduledAt).toISOString()}#${runId}` }
}

type Page = { most: number; from?: QueryCommandOutput['LastEvaluatedKey']; consistent?: boolean }

/** Run records in the state table, ordered by the time they were scheduled for. */
export function createRuns({ dynamodb, table }: { dynamodb: DynamoDBClient; table: string }): Runs {
  const documents = DynamoDBDocumentClient.from(dynamodb)
  const queryPage = ({ most, from, consistent = false }: Page) =>
    documents.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'pk = :run',
        ExpressionAttributeValues: { ':run': partition },
        ScanIndexForward: false,
        Limit: most,
        ConsistentRead: consistent,
        ...(from ? { ExclusiveStartKey: from } : {}),
      }),
    )
  return {
    write: (record) =>
      callAws({ what: `write the record of run ${record.runId} to table ${table}` }, async () => {
        const expiresAt = Math.ceil((record.finishedAt + keptMs) / 1000)
        const Item = { ...keyOf(record), record: JSON.stringify(record), [stateTable.expires]: expiresAt }
        const condition = isOvertaken(record) ? { ConditionExpression: 'attribute_not_exists(pk)' } : {}
        try {
          await documents.send(new PutCommand({ TableName: table, Item, ...condition }))
        } catch (error) {
          if (!isConditionFailure(error)) throw error
        }
      }),
    latest: async () => {
      const what = `read the latest run from table ${table}`
      const { Items } = await callAws({ what }, () => queryPage({ most: 1, consistent: true }))
      return recordOf(Items?.[0])
    },
    newestFirst: async function* () {
      let after: QueryCommandOutput['LastEvaluatedKey']
      do {
        const from = after
        const page = await callAws({ what: `read runs from table ${table}` }, () => queryPage({ most: 200, from }))
        yield* (page.Items ?? []).flatMap((item) => recordOf(item) ?? [])
        after = page.LastEvaluatedKey
      } while (after)
    },
    read: (run) =>
      callAws({ what: `read the record of run ${run.runId} from table ${table}` }, async () => {
        const input = { TableName: table, Key: keyOf(run), ConsistentRead: true }
        const { Item } = await documents.send(new GetCommand(input))
        return recordOf(Item)
      }),
  }
}

function recordOf(item: { record?: string } | undefined): RunRecord | null {
  return item?.record === undefined ? null : RunRecord.parse(JSON.parse(item.record))
}

/** Whether another worker has a stream of the run: then that one's word on the run stands, before or after this one's. */
export function isOvertaken({ streams }: RunRecord): boolean {
  return streams.some(({ status }) => status === 'running')
}
