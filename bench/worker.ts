import type { NodeHttpHandler } from '@smithy/node-http-handler'
import { composeRun } from '../lib/compose/run.ts'
import { noDeadline } from '../lib/core/deadline.ts'
import { silentLog } from '../lib/core/log.ts'
import { noMetrics } from '../lib/core/metrics.ts'
import { finishRun } from '../lib/publish/finish-run.ts'
import { createStorageClients } from '../lib/stores/storage.ts'
import { streamNamed } from '../lib/streams/index.ts'
import type { Counts } from '../lib/sync/checkpoint.ts'
import { syncStream } from '../lib/sync/sync-stream.ts'
import type { Cost } from './bare-loop.ts'
import { answering } from './processes.ts'

/** What one sync of the sessions cost the worker. */
export type WorkerAnswer = Cost & {
  status: string
  counts: Counts
  /** Calls to AWS by service and operation. */
  calls: Record<string, number>
}

/** Syncs and publishes the sessions once, in a process that does nothing else. */
answering(async (variables: Record<string, string>): Promise<WorkerAnswer> => {
  Object.assign(process.env, variables)
  const calls: Record<string, number> = {}
  const clients = createStorageClients({
    region: variables.AWS_REGION as string,
    endpointUrl: variables.AWS_ENDPOINT_URL,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  for (const client of [clients.dynamodb, clients.s3])
    countCalls(client.config.requestHandler as NodeHttpHandler, calls)
  const app = composeRun(variables, { log: silentLog, metrics: noMetrics, clients })

  const began = performance.now()
  const run = { runId: `bench-${Date.now()}`, scheduledAt: Date.now() }
  const sessions = streamNamed('sessions')
  const result = await syncStream(sessions, run, await app.syncDeps(noDeadline))
  await finishRun(run, { streams: [sessions], results: [result] }, app.finishDeps())
  const cpu = process.cpuUsage()
  if (result.counts === null) throw new Error(result.reason ?? 'the sync came to nothing')
  return {
    status: result.status,
    counts: result.counts,
    seconds: (performance.now() - began) / 1000,
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
    peakMegabytes: process.resourceUsage().maxRSS / 1024,
    calls,
  }
})

function countCalls(handler: NodeHttpHandler, calls: Record<string, number>) {
  const handle = handler.handle.bind(handler)
  handler.handle = (request, options) => {
    const name = operationOf(request)
    calls[name] = (calls[name] ?? 0) + 1
    return handle(request, options)
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
