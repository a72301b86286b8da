import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { type AttributeValue, type DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { eachConcurrently, slices } from '../core/concurrency.ts'
import { FatalError } from '../core/errors.ts'
import { sha256 } from '../core/hash.ts'
import type { CurrentRecord, Records, StoredRecord } from '../sync/ports.ts'
import { callAws, isConditionFailure } from './aws-errors.ts'
import { type Backoff, untilDone } from './backoff.ts'
import { createBatchWrite } from './batch-write.ts'
import { readFirstSeen } from './first-seen.ts'
import { liveKeys } from './live-keys.ts'
import type { ObjectStore } from './objects.ts'

/** What the records store works with. `bodies` takes the bodies that are too large for an item. */
type RecordsDeps = Backoff & { dynamodb: DynamoDBClient; table: string; bodies: ObjectStore }

/** An item may have 400 KB, its attribute names and the other attributes included. */
const maxBodyBytes = 350 * 1024
/** A partition key may have 2,048 bytes. */
const maxKeyBytes = 2048
const itemsPerWrite = 25
const keysPerRead = 100
const callsAtOnce = 8

/** Current records in DynamoDB: one item per stream and primary key, large bodies in the lake bucket. */
export function createRecords(deps: RecordsDeps): Records {
  const { dynamodb, table, bodies } = deps
  const batchWrite = createBatchWrite({ ...deps, attributes: recordAttributes })

  return {
    put: async ({ stream, records, changedAt, mayExist, signal }) => {
      const newest = [...new Map(records.map((record) => [recordKey(stream, record.key), record]))]
      const firstSeen = new Map<string, number>()
      if (mayExist) {
        const keys = newest.map(([pk]) => pk)
        await eachConcurrently(slices(keys, keysPerRead), callsAtOnce, async (some) => {
          for (const [pk, at] of await readFirstSeen(deps, some, signal)) firstSeen.set(pk, at)
        })
      }
      await eachConcurrently(slices(newest, itemsPerWrite), callsAtOnce, async (some) => {
        const items: RecordItem[] = []
        for (const [pk, record] of some) {
          const { hash } = record
          const body = await bodyOf(bodies, { stream, record, signal })
          items.push({ pk, hash, ...body, firstSeenAt: firstSeen.get(pk) ?? changedAt, changedAt })
        }
        const context = { what: `write ${items.length} current records to table ${table}`, signal }
        const send = (rest: RecordItem[]) => batchWrite(rest, signal)
        await callAws(context, () => untilDone(items, send, { ...deps, ...context }))
      })
    },
    tombstone: ({ stream, keys, deletedAt, signal }) =>
      eachConcurrently(new Set(keys), callsAtOnce, (key) =>
        markDeleted(deps, { pk: recordKey(stream, key), deletedAt, signal }),
      ),
    get: (stream, key) =>
      callAws({ what: `read a current record of ${stream} from table ${table}` }, async () => {
        const input = { TableName: table, Key: { pk: { S: recordKey(stream, key) } }, ConsistentRead: true }
        const { Item } = await dynamodb.send(new GetItemCommand(input))
        return Item ? storedRecord(bodies, key, Item) : null
      }),
    keys: (stream, signal) => liveKeys(deps, `${stream}#`, signal),
  }
}

/** The partition key of a record: `<stream>#<primary key>`, or a digest of a primary key that is too long for one. */
function recordKey(stream: string, key: string): string {
  const pk = `${stream}#${key}`
  return exceeds(pk, maxKeyBytes) ? `${stream}#sha256:${sha256(key)}` : pk
}

function exceeds(text: string, bytes: number): boolean {
  return text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes)
}

type BodyPlace = { body: string } | { bodyKey: string }

/** A record as an item of the records table; its body, or the key of the object that holds it. */
type RecordItem = { pk: string; hash: string; firstSeenAt: number; changedAt: number } & BodyPlace

function recordAttributes(item: RecordItem): string {
  const body =
    'body' in item ? `"body":{"S":${JSON.stringify(item.body)}}` : `"bodyKey":{"S":${JSON.stringify(item.bodyKey)}}`
  const times = `"firstSeenAt":{"N":"${item.firstSeenAt}"},"changedAt":{"N":"${item.changedAt}"}`
  return `{"pk":{"S":${JSON.stringify(item.pk)}},"hash":{"S":${JSON.stringify(item.hash)}},${body},${times}}`
}

/** A body as the item holds it: itself, or the key of the object it was written to. */
async function bodyOf(
  bodies: ObjectStore,
  { stream, record, signal }: { stream: string; record: CurrentRecord; signal: AbortSignal },
): Promise<BodyPlace> {
  if (!exceeds(record.body, maxBodyBytes)) return { body: record.body }
  const bodyKey = `bodies/${stream}/${sha256(record.key)}/${record.hash}.json.gz`
  const bytes = await promisify(gzip)(record.body)
  await bodies.put(bodyKey, bytes, { signal, contentType: 'application/gzip' })
  return { bodyKey }
}

/** Of a record that does not exist, or is deleted already, nothing is written. */
function markDeleted(
  { dynamodb, table }: RecordsDeps,
  { pk, deletedAt, signal }: { pk: string; deletedAt: number; signal: AbortSignal },
): Promise<void> {
  return callAws({ what: `mark a record as deleted in table ${table}`, signal }, async () => {
    const command = new UpdateItemCommand({
      TableName: table,
      Key: { pk: { S: pk } },
      UpdateExpression: 'SET deletedAt = :at',
      ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(deletedAt)',
      ExpressionAttributeValues: { ':at': { N: String(deletedAt) } },
    })
    try {
      await dynamodb.send(command, { abortSignal: signal })
    } catch (error) {
      if (!isConditionFailure(error)) throw error
    }
  })
}

async function storedRecord(
  bodies: ObjectStore,
  key: string,
  item: Record<string, AttributeValue>,
): Promise<StoredRecord> {
  return {
    key,
    hash: item.hash?.S ?? '',
    body: item.body?.S ?? (await largeBody(bodies, item.bodyKey?.S ?? '')),
    firstSeenAt: Number(item.firstSeenAt?.N),
    changedAt: Number(item.changedAt?.N),
    deletedAt: item.deletedAt?.N === undefined ? null : Number(item.deletedAt.N),
  }
}

async function largeBody(bodies: ObjectStore, bodyKey: string): Promise<string> {
  const bytes = await bodies.get(bodyKey)
  if (bytes) return (await promisify(gunzip)(bytes)).toString()
  const message = `the body of a record is missing: s3://${bodies.bucket}/${bodyKey}. Reset its stream with --index to write it anew`
  throw new FatalError(message, { code: 'damaged_state' })
}
