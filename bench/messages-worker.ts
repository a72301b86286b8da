import { runSync } from '../lib/cli/run-sync.ts'
import { composeRun } from '../lib/compose/run.ts'
import { silentLog } from '../lib/core/log.ts'
import { noMetrics } from '../lib/core/metrics.ts'
import { createStorageClients } from '../lib/stores/storage.ts'
import { streamNamed } from '../lib/streams/index.ts'
import { answering } from './processes.ts'

/** What is to be read, by names of streams, and the variables of the installation. */
export type MessagesQuestion = { variables: Record<string, string>; streams: string[] }

/** What the last of the streams cost the worker, and what came of it. */
export type MessagesAnswer = {
  status: string
  received: number
  /** What notices say of its lists, by their codes. */
  notices: string[]
  /** From the first shard's begin to the last one's end. */
  seconds: number
  /** Of reading, without the start of the process and without publishing. */
  cpuSeconds: number
  /** Of all streams that were read, before publishing and after it. */
  peakMegabytes: { reading: number; publishing: number }
}

const silent = { begin() {}, add() {}, end() {}, line() {}, stop() {} }

/** Reads streams and publishes them as the laptop does, in a process that does nothing else. */
answering(async ({ variables, streams }: MessagesQuestion): Promise<MessagesAnswer> => {
  Object.assign(process.env, variables)
  const clients = createStorageClients({
    region: variables.AWS_REGION as string,
    endpointUrl: variables.AWS_ENDPOINT_URL,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  const app = composeRun(variables, { log: silentLog, metrics: noMetrics, clients })
  const before = process.cpuUsage()
  let read: { cpuSeconds: number; peakMegabytes: number } | null = null
  const finishDeps = () => {
    const { user, system } = process.cpuUsage(before)
    read = { cpuSeconds: (user + system) / 1e6, peakMegabytes: peak() }
    return app.finishDeps()
  }
  const interrupted = new AbortController().signal
  const { results } = await runSync(streams.map(streamNamed), {
    root: { ...app, finishDeps },
    progress: silent,
    interrupted,
  })
  const last = results.at(-1)
  const failed = results.find(({ status }) => status !== 'complete')
  if (!last || !read || failed) throw new Error(`${failed?.stream}: ${failed?.reason}`)
  const { cpuSeconds, peakMegabytes } = read as { cpuSeconds: number; peakMegabytes: number }
  return {
    status: last.status,
    received: last.counts?.received ?? 0,
    notices: (last.notices ?? []).map(({ code }) => code),
    seconds: last.seconds,
    cpuSeconds,
    peakMegabytes: { reading: peakMegabytes, publishing: peak() },
  }
})

function peak(): number {
  return process.resourceUsage().maxRSS / 1024
}
