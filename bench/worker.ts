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
import { type Calls, countCalls } from './calls.ts'
import { answering } from './processes.ts'

/** What one sync of the sessions cost the worker. */
export type WorkerAnswer = Cost & {
  /** What of it was reading: on AWS another function publishes. */
  reading: Cost
  status: string
  counts: Counts
  calls: Calls
}

/** Syncs and publishes the sessions once, in a process that does nothing else. */
answering(async (variables: Record<string, string>): Promise<WorkerAnswer> => {
  Object.assign(process.env, variables)
  const calls: Calls = {}
  const clients = createStorageClients({
    region: variables.AWS_REGION as string,
    endpointUrl: variables.AWS_ENDPOINT_URL,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  countCalls(clients, calls)
  const app = composeRun(variables, { log: silentLog, metrics: noMetrics, clients })

  const began = performance.now()
  const run = { runId: `bench-${Date.now()}`, scheduledAt: Date.now() }
  const sessions = streamNamed('sessions')
  const result = await syncStream(sessions, run, await app.syncDeps(noDeadline))
  const reading = costSince(began)
  await finishRun(run, { streams: [sessions], results: [result] }, app.finishDeps())
  if (result.counts === null) throw new Error(result.reason ?? 'the sync came to nothing')
  return {
    status: result.status,
    counts: result.counts,
    ...costSince(began),
    reading,
    calls,
  }
})

/** What the process took so far, by the clock since then. */
function costSince(began: number): Cost {
  const { user, system } = process.cpuUsage()
  const peakMegabytes = process.resourceUsage().maxRSS / 1024
  return { seconds: (performance.now() - began) / 1000, cpuSeconds: (user + system) / 1e6, peakMegabytes }
}
