import { composeRun } from '../lib/compose/run.ts'
import { systemClock } from '../lib/core/clock.ts'
import { mapConcurrently } from '../lib/core/concurrency.ts'
import { noDeadline } from '../lib/core/deadline.ts'
import { silentLog } from '../lib/core/log.ts'
import { noMetrics } from '../lib/core/metrics.ts'
import type { Simulator } from '../lib/local/simulator/simulator.ts'
import { finishRun } from '../lib/publish/finish-run.ts'
import { currentFiles, type FindCurrentFiles } from '../lib/publish/iceberg/current-files.ts'
import { filesOf, type PublishedFile } from '../lib/publish/manifest.ts'
import type { ObjectStore } from '../lib/stores/objects.ts'
import { createStorageClients } from '../lib/stores/storage.ts'
import { createFolderPointers } from '../lib/stores/table-pointers.ts'
import type { Stream } from '../lib/streams/stream.ts'
import type { Counts } from '../lib/sync/checkpoint.ts'
import { syncStream } from '../lib/sync/sync-stream.ts'
import { answerAtHand } from './at-hand.ts'
import { type Calls, countCalls } from './calls.ts'
import { serve } from './processes.ts'

/** What a run did. */
export type Ran = {
  calls: Calls
  /** What each stream counted. */
  counts: readonly Counts[]
  /** What it published. */
  files: readonly PublishedFile[]
  /** Of everything that it wrote into buckets. */
  bytesPut: number
  cpuSeconds: number
}

/** An installation of the real engine, whose stores answer at once, and what its readers need. */
export type Installation = {
  /** The streams of a night. */
  streams: readonly Stream[]
  run(schedule: string, streams: readonly Stream[]): Promise<Ran>
  objects: ObjectStore
  lake: { readFiles(): Promise<PublishedFile[]> }
  currentFiles: FindCurrentFiles
  close(): Promise<void>
}

/** What an installation reads, at what time, and a folder of its own. */
type Place = { dir: string; platform: Simulator; now: () => number }

/** Starts an installation that has seen nothing yet. */
export async function startInstallation({ dir, platform, now }: Place): Promise<Installation> {
  const stores = await serve<{ environment: Record<string, string> }>('serve-stores.ts', { dir })
  const { environment } = stores.answer
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const { AWS_REGION: region = '', AWS_ENDPOINT_URL: endpointUrl, LAKE_ADDRESS: address = '' } = environment
  const clients = createStorageClients({ region, endpointUrl, credentials })
  const calls: Calls = {}
  const { bytesPut } = answerAtHand(clients)
  countCalls(clients, calls)
  const variables = {
    ...environment,
    PLATFORM_APP_URL: platform.appUrl,
    PLATFORM_BASE_URL: platform.baseUrl,
    PLATFORM_API_KEY: 'sim-key',
    REDACTION_KEY: 'a key of the benchmark, long enough',
    // By default there is no collector of hook events.
    HOOKS_TABLE: '',
  }
  const app = composeRun(variables, { log: silentLog, metrics: noMetrics, clients, clock: { ...systemClock, now } })
  const { objects, lake, streams } = app
  const pointers = createFolderPointers({ objects, address })
  const run = async (schedule: string, some: readonly Stream[]): Promise<Ran> => {
    for (const name of Object.keys(calls)) delete calls[name]
    const [began, putBefore] = [process.cpuUsage(), bytesPut()]
    const scheduledAt = now()
    const own = { runId: `${scheduledAt}-${schedule}`, scheduledAt }
    const deps = await app.syncDeps(noDeadline)
    const results = await mapConcurrently(some, some.length, (stream) => syncStream(stream, own, deps))
    const { manifest } = await finishRun(own, { streams: some, results }, app.finishDeps())
    const { user, system } = process.cpuUsage(began)
    const counts = results.map((result) => result.counts ?? notRead(result))
    const cpuSeconds = (user + system) / 1e6
    return { calls: { ...calls }, counts, files: filesOf(manifest), bytesPut: bytesPut() - putBefore, cpuSeconds }
  }
  const close = async () => {
    clients.destroy()
    await stores.stop()
  }
  const find: FindCurrentFiles = (of) => currentFiles(of, { files: objects, pointers, address })
  return { streams, run, objects, lake, currentFiles: find, close }
}

function notRead({ stream, reason }: { stream: string; reason: string | null }): never {
  throw new Error(`${stream} was not read: ${reason}`)
}
