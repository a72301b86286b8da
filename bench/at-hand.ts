import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { HttpRequest } from '@smithy/types'
import type { StorageClients } from '../lib/stores/storage.ts'
import { createItemStub } from './item-stub.ts'
import { createObjectStub } from './object-stub.ts'

type Handler = { handle(request: HttpRequest, options?: object): Promise<unknown> }

/**
 * Answers what clients ask of S3, and their batches of items, within this process and at once. Single calls on items go on
 * to where the clients are connected. For those who count calls, or want many nights in little time. Tells
 * how many bytes were put into buckets so far.
 */
export function answerAtHand({ dynamodb, s3 }: StorageClients): { bytesPut(): number } {
  let bytesPut = 0
  const objects = createObjectStub()
  const items = createItemStub(null)
  handlerOf(s3).handle = async ({ method, path, query = {}, headers, body }) => {
    const url = new URL(`http://stub${path}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value ?? ''))
    const sent = await bytesOf(body)
    if (method === 'PUT') bytesPut += sent.byteLength
    const answer = objects({ method, url, headers, body: sent })
    return responseOf(answer.status, answer.headers, method === 'HEAD' ? undefined : answer.body)
  }
  const single = handlerOf(dynamodb)
  const handle = single.handle.bind(single)
  single.handle = async (request, options) => {
    const operation = request.headers['x-amz-target'] ?? ''
    if (!operation.includes('.Batch')) return await handle(request, options)
    const answer = items(operation, await bytesOf(request.body))
    return responseOf(200, { 'content-type': 'application/x-amz-json-1.0' }, answer)
  }
  return { bytesPut: () => bytesPut }
}

function handlerOf({ config }: { config: object }): Handler {
  return (config as { requestHandler: Handler }).requestHandler
}

async function bytesOf(body: unknown): Promise<Buffer> {
  if (body === undefined || body === null) return Buffer.alloc(0)
  if (body instanceof Readable) return await buffer(body)
  return typeof body === 'string' ? Buffer.from(body) : Buffer.copyBytesFrom(body as Uint8Array)
}

function responseOf(statusCode: number, headers: Record<string, string> = {}, body: string | Buffer = '') {
  const bytes = Buffer.from(body)
  const sent = { 'content-length': String(bytes.byteLength), ...headers }
  return { response: { statusCode, headers: sent, body: Readable.from([bytes]) } }
}
