import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Clock } from '../core/clock.ts'

/** What names an item: a table's partition key and, if it has one, its sort key, both texts. */
export type ItemKey = { pk: string; sk?: string }

/** Puts items by one BatchWriteItem, and returns those that DynamoDB left undone. */
export type BatchWrite<T extends ItemKey> = (items: T[], signal?: AbortSignal) => Promise<T[]>

/** `attributes`: all of an item as DynamoDB's JSON, its key included. */
type Deps<T> = { dynamodb: DynamoDBClient; table: string; clock: Clock; attributes: (item: T) => string }

type Target = { protocol: string; hostname: string; port?: number; path: string; host: string }

/**
 * BatchWriteItem without the SDK's serializer and middleware: the request is written by hand, signed by the client's own
 * signer and sent by its own connection pool. This one call is most of what a first sync costs; see
 * docs/decisions/records-writes.md. It is sent once; the caller decides what to send again.
 * @throws an error named as the SDK names it, with `$metadata`.
 */
export function createBatchWrite<T extends ItemKey>(deps: Deps<T>): BatchWrite<T> {
  const { config } = deps.dynamodb
  const name = JSON.stringify(deps.table)
  let prepared: Promise<{ target: Target; signer: Awaited<ReturnType<typeof config.signer>> }> | undefined
  const prepare = async () => ({ target: await targetOf(config), signer: await config.signer() })

  return async (items, signal) => {
    signal?.throwIfAborted()
    prepared ??= prepare()
    const { target, signer } = await prepared
    const body = Buffer.from(
      `{"RequestItems":{${name}:[${items.map((item) => `{"PutRequest":{"Item":${deps.attributes(item)}}}`).join(',')}]}}`,
    )
    const { host, ...address } = target
    const request = {
      ...address,
      method: 'POST',
      query: {},
      headers: {
        host,
        'content-type': 'application/x-amz-json-1.0',
        'content-length': String(body.byteLength),
        'x-amz-target': 'DynamoDB_20120810.BatchWriteItem',
      },
      body,
    }
    // The SDK learns from a refused signature how far this machine's clock is off.
    const signingDate = new Date(deps.clock.now() + config.systemClockOffset)
    const signed = await signer.sign(request, { signingDate })
    const { response } = await config.requestHandler.handle(signed as never, signal ? { abortSignal: signal } : {})
    const text = await textOf(response.body)
    if (response.statusCode !== 200) throw serviceError(response.statusCode, text)
    return unprocessed(items, text, deps.table)
  }
}

async function targetOf(config: DynamoDBClient['config']): Promise<Target> {
  if (config.endpoint) {
    const { protocol, hostname, port, path } = await config.endpoint()
    return { protocol, hostname, path, host: port ? `${hostname}:${port}` : hostname, ...(port ? { port } : {}) }
  }
  const { url } = config.endpointProvider({
    Region: await config.region(),
    UseFIPS: await config.useFipsEndpoint(),
    UseDualStack: await config.useDualstackEndpoint(),
  })
  return { protocol: url.protocol, hostname: url.hostname, path: '/', host: url.host }
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

type Text = { S?: string }
type Answer = { UnprocessedItems?: Record<string, { PutRequest?: { Item?: { pk?: Text; sk?: Text } } }[]> }

/** DynamoDB answers 200 even when it did not do all: what it left is in the body. */
function unprocessed<T extends ItemKey>(items: T[], text: string, table: string): T[] {
  const left = (JSON.parse(text) as Answer).UnprocessedItems?.[table] ?? []
  if (left.length === 0) return []
  const keys = new Set(left.map(({ PutRequest }) => nameOf(PutRequest?.Item?.pk?.S, PutRequest?.Item?.sk?.S)))
  return items.filter(({ pk, sk }) => keys.has(nameOf(pk, sk)))
}

function nameOf(pk = '', sk = ''): string {
  return JSON.stringify([pk, sk])
}

function serviceError(status: number, text: string): Error {
  const { __type, message, Message } = parsed(text) as { __type?: string; message?: string; Message?: string }
  const error = new Error(message ?? Message ?? `HTTP status ${status}`)
  error.name = __type?.split('#').at(-1) ?? 'UnknownError'
  return Object.assign(error, { $metadata: { httpStatusCode: status } })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}
