import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { startEmulators } from '../lib/local/emulators/emulators.ts'
import { createItemStub } from './item-stub.ts'
import { createObjectStub, type ObjectRequest } from './object-stub.ts'
import { answering } from './processes.ts'

/** Where the emulators keep their files, and the stream whose records are kept, if one is read again. */
export type Stores = { dir: string; keeps?: string | null }

/** How long each kind of call takes, as on AWS: a batch of DynamoDB, a single call of it, a call of S3. */
const batchMs = 8
const callMs = 4
const objectMs = 20

/**
 * The stores of AWS with its times. Batches of items are taken and forgotten, but for those of a stream that is to be
 * kept; objects lie in memory; the few single calls on items go on to the emulators, and so does the queue. The emulators
 * would work through all of it on one core, which says nothing about the worker.
 */
answering(async ({ dir, keeps = null }: Stores): Promise<{ environment: Record<string, string> }> => {
  const { environment, endpointUrl } = await startEmulators({ dir })
  const target = new URL(endpointUrl)
  const objects = createObjectStub()
  const items = createItemStub(keeps)
  const server = createServer(async (request, response) => {
    const operation = String(request.headers['x-amz-target'] ?? '')
    if (operation.includes('.Batch')) {
      const batch = items(operation, await bodyOf(request))
      await wait(batchMs)
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(batch)
    } else if (operation !== '') await hand(request, response, target)
    else {
      const { status, headers, body } = objects(await objectRequest(request))
      await wait(objectMs)
      response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body)
    }
  })
  server.keepAliveTimeout = 120_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { environment: { ...environment, AWS_ENDPOINT_URL: address } }
})

async function hand(request: IncomingMessage, response: ServerResponse, target: URL): Promise<void> {
  const { method, url: path, headers } = request
  await wait(callMs)
  const onward = forward({ host: target.hostname, port: target.port, method, path, headers }, (answered) => {
    response.writeHead(answered.statusCode ?? 500, answered.headers)
    answered.pipe(response)
  })
  request.pipe(onward)
}

async function objectRequest(request: IncomingMessage): Promise<ObjectRequest> {
  const body = await bodyOf(request)
  const { method = 'GET', url = '/', headers } = request
  return { method, url: new URL(url, 'http://stub'), headers, body }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
