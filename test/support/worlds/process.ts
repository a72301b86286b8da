import { composeRun } from '../../../lib/compose/run.ts'
import { noDeadline } from '../../../lib/core/deadline.ts'
import { type Log, silentLog } from '../../../lib/core/log.ts'
import { noMetrics } from '../../../lib/core/metrics.ts'
import { finishRun, type RunResult } from '../../../lib/publish/finish-run.ts'
import type { Stream } from '../../../lib/streams/stream.ts'
import type { Run, StreamResult, SyncSettings } from '../../../lib/sync/context.ts'
import { driveStream } from '../../../lib/sync/drive-stream.ts'
import { syncStream } from '../../../lib/sync/sync-stream.ts'
import { type Connection, type Connections, fetchThrough, platformAddress } from './connections.ts'
import { type Call, createOutside, type Fate, type Outside } from './outside.ts'
import type { Storage } from './storage.ts'
import type { Time } from './time.ts'

/** Small enough that a dozen records make several parts. */
export const smallSettings: Partial<SyncSettings> = { flushRecords: 7 }

/** The key under which all processes redact. */
export const redactionKey = 'a key of the tests, 32 characters.'

/** How a process ended. */
export type End =
  | { how: 'done'; results: StreamResult[]; run: RunResult | { failed: unknown }; callsBefore: number }
  | { how: 'died' }

/** What a process does before it reads streams: where it does it, and how it keeps time. */
export type Beforehand = (doing: {
  run: Run
  variables: Record<string, string>
  outside: Outside
  connection: Connection
  time: Time
}) => Promise<void>

/** A worker in a process of its own, as far as the outside can tell. */
export type Process = { outside: Outside; end: Promise<End> }

/** What a process works against, and how its calls end. */
export type Surroundings = {
  storage: Storage
  connections: Connections
  platformUrl: () => string
  time: Time
  fateOf?: (call: Call) => Fate
  beforehand?: Beforehand | undefined
  log?: Log
  apiKey?: string
}

const always: Fate = 'pass'

/** Starts a run over streams, one after the other, and then publishes. What is to be done before comes first. */
export function startProcess(
  run: Run,
  streams: readonly Stream[],
  { storage, connections, platformUrl, time, beforehand, ...more }: Surroundings,
): Process {
  const { fateOf = () => always, log = silentLog, apiKey = 'sim-key' } = more
  const outside = createOutside(fateOf)
  const connection = connections.take()
  connection.join(outside)
  const variables = {
    ...storage.environment(),
    PLATFORM_APP_URL: platformAddress,
    PLATFORM_BASE_URL: platformAddress,
    PLATFORM_API_KEY: apiKey,
    REDACTION_KEY: redactionKey,
    MESSAGES_ENABLED: 'true',
  }
  const app = composeRun(variables, {
    log,
    metrics: noMetrics,
    clock: time.clockOf(outside),
    settings: smallSettings,
    clients: connection.clients,
    fetch: fetchThrough(outside, platformUrl),
  })
  const work = async (): Promise<End> => {
    await beforehand?.({ run, variables, outside, connection, time })
    const callsBefore = outside.calls.length
    const deps = await app.syncDeps(noDeadline)
    const results: StreamResult[] = []
    for (const stream of streams) {
      const attempt = () => syncStream(stream, run, deps)
      const { patience } = deps
      results.push(await driveStream(stream, run, { attempt, patience, wait: app.clock.sleep }))
    }
    const ended = await finishRun(run, { streams, results }, app.finishDeps()).catch((failed: unknown) => ({ failed }))
    return { how: 'done', results, run: ended, callsBefore }
  }
  const end = Promise.race([work(), outside.died.then((): End => ({ how: 'died' }))])
  return { outside, end: end.finally(() => connections.giveBack(connection)) }
}
