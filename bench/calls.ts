import type { NodeHttpHandler } from '@smithy/node-http-handler'
import type { StorageClients } from '../lib/stores/storage.ts'

/** Calls to AWS by service and operation. */
export type Calls = Record<string, number>

/** Counts what leaves through the clients' connections, whoever wrote the request, from now on and for as long as they live. */
export function countCalls({ dynamodb, s3 }: StorageClients, calls: Calls): void {
  for (const client of [dynamodb, s3]) {
    const handler = client.config.requestHandler as NodeHttpHandler
    const handle = handler.handle.bind(handler)
    handler.handle = (request, options) => {
      const name = operationOf(request)
      calls[name] = (calls[name] ?? 0) + 1
      return handle(request, options)
    }
  }
}

type Request = Parameters<NodeHttpHandler['handle']>[0]

function operationOf({ headers, method, query }: Request): string {
  const target = headers['x-amz-target'] ?? headers['X-Amz-Target']
  if (target) return `DynamoDB ${target.split('.')[1]}`
  if ('list-type' in query) return 'S3 ListObjectsV2'
  if ('delete' in query) return 'S3 DeleteObjects'
  return `S3 ${method}${'uploads' in query || 'uploadId' in query ? ' (multipart)' : ''}`
}
