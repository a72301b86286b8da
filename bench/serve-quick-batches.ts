import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { answering } from './processes.ts'

type Question = { endpointUrl: string; batchMs: number }

const answers: Record<string, string> = {
  'DynamoDB_20120810.BatchWriteItem': '{"UnprocessedItems":{}}',
  'DynamoDB_20120810.BatchGetItem': '{"Responses":{},"UnprocessedKeys":{}}',
}

/**
 * The emulators with batches that take as long as DynamoDB's do, and keep nothing: the emulator works through a batch item
 * by item on one core, which says nothing about the worker.
 */
answering(async ({ endpointUrl, batchMs }: Question) => {
  const target = new URL(endpointUrl)
  const server = createServer((request, response) => {
    const answer = answers[String(request.headers['x-amz-target'])]
    if (answer === undefined) {
      const { method, url: path, headers } = request
      const onward = forward({ host: target.hostname, port: target.port, method, path, headers }, (answered) => {
        response.writeHead(answered.statusCode ?? 500, answered.headers)
        answered.pipe(response)
      })
      request.pipe(onward)
      return
    }
    request.resume().on('end', async () => {
      await wait(batchMs)
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(answer)
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { endpointUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
})
