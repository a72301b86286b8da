import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateQuery,
  QueryCommand,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb'
import { ofKnownForm } from '../core/form.ts'
import { RunRecord } from '../publish/manifest.ts'
import type { Runs } from '../publish/ports.ts'
import { callAws, isConditionFailure, storageError } from './aws-errors.ts'
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
      const newest = { TableName: table, ...fromTheNewest, Limit: 1, ConsistentRead: true }
      const { Items } = await callAws({ what }, () => documents.send(new QueryCommand(newest)))
      return recordOf(Items?.[0])
    },
    newestFirst: () => records({ ...fromTheNewest, Limit: 200 }, { documents, table }),
    read: (run) =>
      callAws({ what: `read the record of run ${run.runId} from table ${table}` }, async () => {
        const input = { TableName: table, Key: keyOf(run), ConsistentRead: true }
        const { Item } = await documents.send(new GetCommand(input))
        return recordOf(Item)
      }),
    between: async (from, until) => {
      const found: RunRecord[] = []
      const query = { ...scheduledBetween(from, until), ConsistentRead: true }
      for await (const record of records(query, { documents, table })) found.push(record)
      return found
    },
  }
}

const fromTheNewest = {
  KeyConditionExpression: 'pk = :run',
  ExpressionAttributeValues: { ':run': partition },
  ScanIndexForward: false,
}

/** Behind a time stands the id of a run, so that those that were due at the end itself are not among them. */
function scheduledBetween(from: number, until: number) {
  return {
    KeyConditionExpression: 'pk = :run and sk between :from and :until',
    ExpressionAttributeValues: { ':run': partition, ':from': isoOf(from), ':until': isoOf(until) },
  }
}

async function* records(
  query: Omit<QueryCommandInput, 'TableName'>,
  { documents, table }: Place,
): AsyncGenerator<RunRecord> {
  try {
    for await (const { Items = [] } of paginateQuery({ client: documents }, { TableName: table, ...query })) {
      yield* Items.flatMap((item) => recordOf(item) ?? [])
    }
  } catch (error) {
    throw storageError(error, { what: `read the records of runs from table ${table}` })
  }
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
