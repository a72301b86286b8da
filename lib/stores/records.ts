import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand, paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { eachConcurrently, mapConcurrently, slices } from '../core/concurrency.ts'
import { FatalError } from '../core/errors.ts'
import { sha256 } from '../core/hash.ts'
import type { Jitter } from '../core/retry.ts'
import type { CurrentRecord, Records, StoredRecord } from '../sync/ports.ts'
import { callAws, isConditionFailure } from './aws-errors.ts'
import { createBatchWrite } from './batch-write.ts'
import { callsAtOnce, itemsPerWrite, readItems, writeItems } from './batches.ts'
import type { ObjectStore } from './objects.ts'

/** What the records store works with. `bodies` takes the bodies that are too large for an item. */
type RecordsDeps = Jitter & { dynamodb: DynamoDBClient; table: string; bodies: ObjectStore }

type Table = { documents: DynamoDBDocumentClient; table: string }

/** An item may have 400 KB, its attribute names and the other attributes included. */
const maxBodyBytes = 350 * 1024
/** A partition key may have 2,048 bytes. */
const maxKeyBytes = 2048

/** Current records in DynamoDB: one item per stream and primary key, large bodies in the lake bucket. */
export function createRecords(deps: RecordsDeps): Records {
  const { dynamodb, table, bodies, clock, random } = deps
  const documents = DynamoDBDocumentClient.from(dynamodb)
  const batchWrite = createBatchWrite({ ...deps, attributes: recordAttributes })

  return {
    put: async ({ stream, records, changedAt, mayExist, signal }) => {
      const newest = [...new Map(records.map((record) => [recordKey(stream, record.key), record]))]
      const batch = { documents, table, clock, random, signal }
      const existing = mayExist ? newest.map(([pk]) => ({ pk })) : []
      const known = await readItems<FirstSeen>(existing, { ...batch, projection: 'pk, firstSeenAt' })
      const firstSeen = new Map(known.map(({ pk, firstSeenAt }) => [pk, firstSeenAt]))
      await eachConcurrently(slices(newest, itemsPerWrite), callsAtOnce, async (some) => {
        const items: RecordItem[] = []
        for (const [pk, record] of some) {
          const { hash } = record
          const isLarge = exceeds(record.body, maxBodyBytes)
          const body = isLarge ? await written(bodies, { stream, record, signal }) : { body: record.body }
          items.push({ pk, hash, ...body, firstSeenAt: firstSeen.get(pk) ?? changedAt, changedAt })
        }
        await writeItems(items, { ...batch, batchWrite })
      })
    },
    tombstone: ({ stream, keys, deletedAt, signal }) =>
      eachConcurrently(new Set(keys), callsAtOnce, (key) =>
        markDeleted({ documents, table }, { pk: recordKey(stream, key), deletedAt, signal }),
      ),
    get: (stream, key) =>
      callAws({ what: `read a current record of ${stream} from table ${table}` }, async () => {
        const input = { TableName: table, Key: { pk: recordKey(stream, key) }, ConsistentRead: true }
        const { Item } = await documents.send(new GetCommand(input))
        return Item ? storedRecord(bodies, key, Item as StoredItem) : null
      }),
    bodies: async ({ stream, keys, signal }) => {
      const names = new Map(keys.map((key) => [recordKey(stream, key), key]))
      const wanted = [...names.keys()].map((pk) => ({ pk }))
      const items = await readItems<StoredItem & { pk: string }>(wanted, { documents, table, clock, random, signal })
      const found = new Map<string, string>()
      for (const { pk, body, bodyKey = '' } of items) {
        found.set(names.get(pk) as string, body ?? (await largeBody(bodies, bodyKey)))
      }
      return found
    },
    keys: (stream, signal) => liveKeys({ documents, table }, `${stream}#`, signal),
  }
}

/** Reads many records of a stream at once, in no order; those that do not exist are left out. */
export function createRecordReader(
  deps: RecordsDeps,
): (stream: string, keys: readonly string[]) => Promise<StoredRecord[]> {
  const { dynamodb, table, bodies, clock, random } = deps
  const documents = DynamoDBDocumentClient.from(dynamodb)
  return async (stream, keys) => {
    const named = new Map(keys.map((key) => [recordKey(stream, key), key]))
    const wanted = [...named.keys()].map((pk) => ({ pk }))
    const found = await readItems<StoredItem & { pk: string }>(wanted, { documents, table, clock, random })
    return mapConcurrently(found, callsAtOnce, (item) => storedRecord(bodies, named.get(item.pk)!, item))
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

type FirstSeen = Pick<RecordItem, 'pk' | 'firstSeenAt'>

function recordAttributes(item: RecordItem): string {
  const body =
    'body' in item ? `"body":{"S":${JSON.stringify(item.body)}}` : `"bodyKey":{"S":${JSON.stringify(item.bodyKey)}}`
  const times = `"firstSeenAt":{"N":"${item.firstSeenAt}"},"changedAt":{"N":"${item.changedAt}"}`
  return `{"pk":{"S":${JSON.stringify(item.pk)}},"hash":{"S":${JSON.stringify(item.hash)}},${body},${times}}`
}

/** Writes a body that no item holds to an object, and answers its key. */
async function written(
  bodies: ObjectStore,
  { stream, record, signal }: { stream: string; record: CurrentRecord; signal: AbortSignal },
): Promise<BodyPlace> {
  const bodyKey = `bodies/${stream}/${sha256(record.key)}/${record.hash}.json.gz`
  const bytes = await promisify(gzip)(record.body)
  await bodies.put(bodyKey, bytes, { signal, contentType: 'application/gzip' })
  return { bodyKey }
}

/** Of a record that does not exist, or is deleted already, nothing is written. */
function markDeleted(
  { documents, table }: Table,
  { pk, deletedAt, signal }: { pk: string; deletedAt: number; signal: AbortSignal },
): Promise<void> {
  return callAws({ what: `mark a record as deleted in table ${table}`, signal }, async () => {
    const command = new UpdateCommand({
      TableName: table,
      Key: { pk },
      UpdateExpression: 'SET deletedAt = :at',
      ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(deletedAt)',
      ExpressionAttributeValues: { ':at': deletedAt },
    })
    try {
      await documents.send(command, { abortSignal: signal })
    } catch (error) {
      if (!isConditionFailure(error)) throw error
    }
  })
}

type StoredItem = {
  hash: string
  body?: string
  bodyKey?: string
  firstSeenAt: number
  changedAt: number
  deletedAt?: number
}

async function storedRecord(bodies: ObjectStore, key: string, item: StoredItem): Promise<StoredRecord> {
  const { hash, body, bodyKey = '', firstSeenAt, changedAt, deletedAt = null } = item
  return { key, hash, body: body ?? (await largeBody(bodies, bodyKey)), firstSeenAt, changedAt, deletedAt }
}

async function largeBody(bodies: ObjectStore, bodyKey: string): Promise<string> {
  const bytes = await bodies.get(bodyKey)
  if (bytes) return (await promisify(gunzip)(bytes)).toString()
  const message = `the body of a record is missing: s3://${bodies.bucket}/${bodyKey}. Reset its stream with --index to write it anew`
  throw new FatalError(message, { code: 'damaged_state' })
}

/** A lease must outlast the read of the whole table, so that it is read in several places at once. */
const scansAtOnce = 8

/** A digest stands for a primary key that is too long (`recordKey`): the key itself can't be told from it. */
const digest = /^sha256:[0-9a-f]{64}$/

/** The keys of the records under a prefix of the partition key that are not deleted. Reads all of the table. */
async function* liveKeys(
  { documents, table }: Table,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const input = {
    TableName: table,
    TotalSegments: scansAtOnce,
    ConsistentRead: true,
    FilterExpression: 'begins_with(pk, :prefix) AND attribute_not_exists(deletedAt)',
    ExpressionAttributeValues: { ':prefix': prefix },
    ProjectionExpression: 'pk',
  }
  const context = { what: `read the keys of ${prefix} from table ${table}`, signal }
  let segments = Array.from({ length: scansAtOnce }, (_, Segment) =>
    paginateScan({ client: documents }, { ...input, Segment }, { abortSignal: signal }),
  )
  while (segments.length > 0) {
    const pages = await callAws(context, () => mapConcurrently(segments, scansAtOnce, (segment) => segment.next()))
    const keys = pages.flatMap(({ value }) => (value?.Items ?? []).map(({ pk }) => String(pk).slice(prefix.length)))
    yield* keys.filter((key) => !digest.test(key))
    segments = segments.filter((_, i) => !pages[i]?.done)
  }
}
