import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandOutput,
} from '@aws-sdk/lib-dynamodb'
import { ofKnownForm } from '../core/form.ts'
import { RunRecord } from '../publish/manifest.ts'
import type { Runs } from '../publish/ports.ts'
import { callAws, isConditionFailure } from './aws-errors.ts'
import { stateTable } from './resources.ts'

const partition = 'run'

/** How long the record of a run is kept. The lake has what it published for ever. */
const keptMs = 400 * 24 * 3_600_000

function keyOf({ scheduledAt, runId }: { scheduledAt: number; runId: string }) {
  return { pk: partition, sk: `${isoOf(scheduledAt)}#${runId}` }
}

function isoOf(unixMs: number): string {
  return new Date(unixMs).toISOString()
}

type Place = { documents: DynamoDBDocumentClient; table: string }
type Page = { most: number; from?: QueryCommandOutput['LastEvaluatedKey']; consistent?: boolean }

/** Run records in the state table, ordered by the time they were scheduled for. */
export function createRuns({ dynamodb, table }: { dynamodb: DynamoDBClient; table: string }): Runs {
  const documents = DynamoDBDocumentClient.from(dynamodb)
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
      const { Items } = await callAws({ what }, () => pageOf({ documents, table }, { most: 1, consistent: true }))
      return recordOf(Items?.[0])
    },
    newestFirst: () => newestFirst({ documents, table }),
    read: (run) =>
      callAws({ what: `read the record of run ${run.runId} from table ${table}` }, async () => {
        const input = { TableName: table, Key: keyOf(run), ConsistentRead: true }
        const { Item } = await documents.send(new GetCommand(input))
        return recordOf(Item)
      }),
    between: (from, until) =>
      callAws({ what: `read the records of runs from table ${table}` }, () =>
        recordsBetween(isoOf(from), isoOf(until), { documents, table }),
      ),
  }
}

/** Asks for some records, from the newest back. */
function pageOf({ documents, table }: Place, { most, from, consistent = false }: Page): Promise<QueryCommandOutput> {
  return documents.send(
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
}

async function* newestFirst(place: Place): AsyncIterable<RunRecord> {
  const what = `read the records of runs from table ${place.table}`
  let after: QueryCommandOutput['LastEvaluatedKey']
  do {
    const from = after
    const page = await callAws({ what }, () => pageOf(place, { most: 200, from }))
    yield* (page.Items ?? []).flatMap((item) => recordOf(item) ?? [])
    after = page.LastEvaluatedKey
  } while (after)
}

/** Behind a time stands the id of a run, so that those that were due at the end itself are not among them. */
async function recordsBetween(
  from: string,
  until: string,
  { documents, table: TableName }: { documents: DynamoDBDocumentClient; table: string },
): Promise<RunRecord[]> {
  const records: RunRecord[] = []
  const condition = {
    KeyConditionExpression: 'pk = :run and sk between :from and :until',
    ExpressionAttributeValues: { ':run': partition, ':from': from, ':until': until },
  }
  let ExclusiveStartKey: Record<string, unknown> | undefined
  do {
    const page = await documents.send(
      new QueryCommand({ TableName, ...condition, ConsistentRead: true, ExclusiveStartKey }),
    )
    records.push(...(page.Items ?? []).flatMap((item) => recordOf(item) ?? []))
    ExclusiveStartKey = page.LastEvaluatedKey
  } while (ExclusiveStartKey)
  return records
}

function recordOf(item: { record?: string } | undefined): RunRecord | null {
  return item?.record === undefined
    ? null
    : RunRecord.parse(ofKnownForm(JSON.parse(item.record), { what: 'record of a run' }))
}

/** Whether another worker has a stream of the run: then that one's word on the run stands, before or after this one's. */
export function isOvertaken({ streams }: RunRecord): boolean {
  return streams.some(({ status }) => status === 'running')
}
