import { type DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb'
import { GetObjectCommand, paginateListObjectsV2, type S3Client } from '@aws-sdk/client-s3'
import type { Contents, Item } from '../support/worlds/storage.ts'
import type { Installation } from './installation.ts'

/** All that is stored, and what of its objects came since the last look. */
export type Stored = Contents & {
  limits: Item[]
  inbox: Map<string, Buffer>
  fresh: { objects: Map<string, Buffer>; items: string[] }
}

/** Reads what is stored, beside all faults. Objects are read once, and again when they were replaced. */
export function createReader({ clients, variables }: Installation): { read(): Promise<Stored> } {
  const known = new Map<string, { etag: string; body: Buffer }>()
  const seen = new Set<string>()
  const objectsOf = async (variable: string, fresh: Map<string, Buffer>): Promise<Map<string, Buffer>> => {
    const bucket = variables[variable]!
    const found = new Map<string, Buffer>()
    for (const { key, etag } of await listed(clients.s3, bucket)) {
      const name = `${bucket}/${key}`
      const before = known.get(name)
      const body = before?.etag === etag ? before.body : await bodyOf(clients.s3, { Bucket: bucket, Key: key })
      if (body !== before?.body) fresh.set(key, body)
      known.set(name, { etag, body })
      found.set(key, body)
    }
    return found
  }
  return {
    read: async () => {
      const fresh = { objects: new Map<string, Buffer>(), items: [] as string[] }
      const items = async (variable: string) => {
        const found = await itemsOf(clients.dynamodb, variables[variable]!)
        const texts = found.map((item) => JSON.stringify(item)).filter((text) => !seen.has(text))
        for (const text of texts) seen.add(text)
        fresh.items.push(...texts)
        return found
      }
      return {
        state: await items('STATE_TABLE'),
        records: await items('RECORDS_TABLE'),
        limits: await items('LIMITS_TABLE'),
        hooks: await items('HOOKS_TABLE'),
        // No key of the one bucket is a key of the other.
        objects: new Map([
          ...(await objectsOf('LAKE_BUCKET', fresh.objects)),
          ...(await objectsOf('AUDIT_BUCKET', fresh.objects)),
        ]),
        inbox: await objectsOf('INBOX_BUCKET', fresh.objects),
        fresh,
      }
    },
  }
}

async function itemsOf(dynamodb: DynamoDBClient, TableName: string): Promise<Item[]> {
  const items: Item[] = []
  const pages = paginateScan({ client: dynamodb }, { TableName, ConsistentRead: true })
  for await (const { Items = [] } of pages) items.push(...(Items as Item[]))
  return items
}

async function listed(s3: S3Client, Bucket: string): Promise<{ key: string; etag: string }[]> {
  const found: { key: string; etag: string }[] = []
  for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket })) {
    found.push(...Contents.map(({ Key = '', ETag = '' }) => ({ key: Key, etag: ETag })))
  }
  return found
}

async function bodyOf(s3: S3Client, place: { Bucket: string; Key: string }): Promise<Buffer> {
  const { Body } = await s3.send(new GetObjectCommand(place))
  return Buffer.from(await Body!.transformToByteArray())
}
