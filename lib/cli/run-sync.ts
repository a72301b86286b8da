import type { RunRoot } from '../compose/run.ts'
import { eachConcurrently, mapConcurrently } from '../core/concurrency.ts'
import { RetryableError, SyncError } from '../core/errors.ts'
import { createPatience } from '../core/patience.ts'
import { sizeOf } from '../platform/paging.ts'
import { finishRun, type RunResult } from '../publish/finish-run.ts'
import { duration } from '../report/words.ts'
import { streamsAsRead } from '../streams/index.ts'
import { shardsOf, withoutShard } from '../streams/shards.ts'
import type { Stream } from '../streams/stream.ts'
import type { Run, StreamResult, SyncDeps } from '../sync/context.ts'
import { driveStream } from '../sync/drive-stream.ts'
import type { Source } from '../sync/ports.ts'
import { resultOfShards } from '../sync/shard-results.ts'
import { syncStream } from '../sync/sync-stream.ts'
import { timeOfDay } from './output.ts'
import { type Progress, stackOf } from './progress.ts'

/** A stream's part of a run, with how long it took, and the requests it sent. */
export type TimedResult = StreamResult & { seconds: number; apiCalls: number }

/** The result of a run, for people and for `--json`. */
export type FinishedRun = RunResult & { results: TimedResult[]; seconds: number; interrupted: boolean }

type Deps = { root: RunRoot; progress: Progress; interrupted: AbortSignal }

/** A run that begins now. Two runs never share an id: it has the time to the millisecond. */
export function runAt(now: number): Run {
  return {
    runId: new Date(now).toISOString().replaceAll(/[-:.]/g, ''),
    scheduledAt: now,
  }
}

/**
 * Reads streams side by side, then those that are divided into shards, several of these at a time, and publishes what they
 * completed. At an interruption each stream keeps what it has read
 * and stops; the next run goes on there.
 */
export async function runSync(streams: readonly Stream[], { root, progress, interrupted }: Deps): Promise<FinishedRun> {
  const { clock } = root
  const began = clock.now()
  const run = runAt(began)
  const deps = await root.syncDeps({ remainingMs: () => (interrupted.aborted ? 0 : Number.POSITIVE_INFINITY) })
  try {
    await announce(streams, deps, progress)
    const reading = { deps, progress, interrupted, stop: soonAfter(interrupted) }
    const isDivided = (stream: Stream) => shardsOf(stream).length > 1
    const whole = streams.filter((stream) => !isDivided(stream))
    const results = await mapConcurrently(whole, streamsAtOnce, (stream) => readStream(stream, run, reading))
    const divided = streams.filter(isDivided)
    for (const stream of divided) results.push(await readShards(stream, run, { ...reading, atOnce: root.shardsAtOnce }))
    const published = streamsAsRead({ messages: divided.length > 0 || root.streams.some(isDivided) })
    const finished = await finishRun(run, { streams: published, results }, root.finishDeps())
    const seconds = (clock.now() - began) / 1000
    return { ...finished, results, seconds, interrupted: interrupted.aborted }
  } finally {
    progress.stop()
  }
}

/**
 * Says of each stream how many records it had the last time, and how many of a scan in progress were read. Trouble with
 * storage is told when the stream is read.
 */
async function announce(streams: readonly Stream[], { checkpoints }: SyncDeps, progress: Progress): Promise<void> {
  const known = await mapConcurrently(streams, streamsAtOnce, (stream) =>
    mapConcurrently(shardsOf(stream), streamsAtOnce, ({ name }) => checkpoints.read(name).catch(() => null)),
  )
  for (const [at, { name }] of streams.entries()) {
    const parts = known[at] ?? []
    const records = sum(parts.flatMap((part) => part?.lastScan?.records ?? []))
    progress.begin(name, { records, before: sum(parts.flatMap((part) => part?.scan?.counts.received ?? [])) ?? 0 })
  }
}

function sum(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : numbers.reduce((total, value) => total + value, 0)
}

/** All that there are: a stream that must wait keeps none from being read. */
const streamsAtOnce = 16

type Reading = { deps: SyncDeps; progress: Progress; interrupted: AbortSignal; stop: AbortSignal }

async function readStream(stream: Stream, run: Run, reading: Reading): Promise<TimedResult> {
  const { deps, progress, interrupted } = reading
  const { clock } = deps
  const began = clock.now()
  const { source, calls } = watchedSource(deps.source, reading)
  const patience = createPatience(deps.settings.patienceMs)
  const watched = { ...deps, source, patience }
  const result = await driveStream(stream, run, {
    attempt: async () => {
      const attempted = await attemptOrLog(() => syncStream(stream, run, watched), stream, deps)
      if (attempted.status === 'rate_limited' && !interrupted.aborted) {
        const waitMs = attempted.retryAfterMs ?? 0
        const until = timeOfDay(clock.now() + waitMs, clock.now())
        progress.line(
          `${stream.name}: the platform asks to wait until ${until} (${duration(waitMs)}); what was read is kept.`,
        )
      }
      return attempted
    },
    patience,
    wait: (ms) => clock.sleep(ms, interrupted).catch(() => {}),
    goOn: () => !interrupted.aborted,
  })
  progress.end(result)
  // An attempt that could keep nothing leaves no trace of its requests in the counts.
  const apiCalls = Math.max(result.ofRun?.apiCalls ?? 0, calls())
  return { ...result, apiCalls, seconds: (clock.now() - began) / 1000 }
}

/** Reads a stream shard by shard, several at a time. When the platform asks one to wait for long, no other is begun. */
async function readShards(
  stream: Stream,
  run: Run,
  { atOnce, ...reading }: Reading & { atOnce: number },
): Promise<TimedResult> {
  const { deps, progress, interrupted } = reading
  const began = deps.clock.now()
  const results: TimedResult[] = []
  await eachConcurrently(shardsOf(stream), atOnce, async (shard) => {
    const mayBegin = !interrupted.aborted && results.every(({ status }) => status !== 'rate_limited')
    const quiet = { ...reading, progress: { ...progress, end: () => {} } }
    results.push(mayBegin ? await readStream(shard, run, quiet) : notBegun(shard, run))
  })
  const result = resultOfShards(stream.name, results)
  progress.end(result)
  const apiCalls = results.reduce((sum, shard) => sum + shard.apiCalls, 0)
  return { ...result, apiCalls, seconds: (deps.clock.now() - began) / 1000 }
}

function notBegun({ name: stream }: Stream, { runId }: Run): TimedResult {
  const reason = 'not begun'
  return { stream, runId, status: 'paused', reason, retryAfterMs: null, counts: null, apiCalls: 0, seconds: 0 }
}

/** What nobody threw on purpose is a bug: its stack goes to the log before it becomes the stream's failure. */
async function attemptOrLog(attempt: () => Promise<StreamResult>, stream: Stream, deps: SyncDeps) {
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof SyncError)) deps.log.error(`${stream.name}: a bug. ${stackOf(error)}`)
    throw error
  }
}

const graceMs = 500

/** Tells the progress of each page, counts requests, and gives a page that waits for a retry up soon after an interruption. */
function watchedSource(source: Source, { progress, stop }: Reading): { source: Source; calls: () => number } {
  let calls = 0
  const fetchPage: Source['fetchPage'] = async (stream, token, options) => {
    const onRequest = () => {
      calls += 1
      options.onRequest()
    }
    try {
      const signal = AbortSignal.any([options.signal, stop])
      const page = await source.fetchPage(stream, token, { ...options, signal, onRequest })
      progress.add(withoutShard(stream.name), sizeOf(page))
      return page
    } catch (error) {
      if (!stop.aborted || options.signal.aborted) throw error
      // Whoever stops a wait ends this run, and asks for no wait of its own: the stream is paused.
      const message = 'Stopped while it waited for the platform; the next sync goes on here.'
      throw new RetryableError(message, { code: 'timeout', cause: error })
    }
  }
  return { source: { fetchPage }, calls: () => calls }
}

/** Aborts some time after an interruption: a page that is on its way may still arrive. */
function soonAfter(interrupted: AbortSignal): AbortSignal {
  const stop = new AbortController()
  interrupted.addEventListener('abort', () => setTimeout(() => stop.abort(), graceMs).unref(), { once: true })
  return stop.signal
}
