import { mapConcurrently } from '../core/concurrency.ts'
import { messageOf, RetryableError } from '../core/errors.ts'
import { retry } from '../core/retry.ts'
import { streams as everyStream } from '../streams/index.ts'
import { withoutShard } from '../streams/shards.ts'
import { isPlatformStream, type Stream } from '../streams/stream.ts'
import type { Run, StreamResult } from '../sync/context.ts'
import type { Manifest, RunRecord, Standing } from './manifest.ts'
import type { Announcer, RulesInForce, Runs, RunsTable } from './ports.ts'
import { marginMs, type PublishDeps, type PublishResult, publishRun } from './publish.ts'
import { readCheckpoints, standingOf } from './standing.ts'

/** What finishing a run needs from the world. */
export type FinishDeps = PublishDeps & {
  runs: Runs
  announcer: Announcer
  runsTable: RunsTable
  /** What the configuration of this worker says, to be told beside what it wrote. */
  rules: RulesInForce
}

/** What a run came to. `goOn`: to finish it once more may bring tables further that are behind. */
export type RunResult = { record: RunRecord; manifest: Manifest; goOn: boolean }

const publishTries = 10
const publishWaitMs = 2_000

/**
 * Publishes what a run's streams completed, announces how the run ended, and records it. What is on record was
 * announced before, or says that it was not: then the failure is thrown, and the next try announces it. A record of a
 * run that another worker had in part is not the last word on it.
 */
export async function finishRun(
  run: Run,
  { streams, results }: { streams: readonly Stream[]; results: readonly StreamResult[] },
  deps: FinishDeps,
): Promise<RunResult> {
  const { manifest, behind, goOn } = await publishPatiently(run, streams, deps)
  const [standings, before] = await Promise.all([standingsOf(results, streams, deps), deps.runs.read(run)])
  const record: RunRecord = {
    runId: run.runId,
    scheduledAt: run.scheduledAt,
    finishedAt: deps.clock.now(),
    status: statusOf(results),
    streams: results.map((result) => recordOf(result, standings, deps)),
    ...(behind.length > 0 ? { behind: behind.map(({ table, since, reason }) => ({ table, since, reason })) } : {}),
  }
  const due = before === null || isUnderway(before) || before.announced === false
  const failure = due ? await announce(record, { manifest, deps }) : null
  await deps.runs.write(failure ? { ...record, announced: false } : record)
  await note(record, deps)
  if (failure) throw failure.error
  return { record, manifest, goOn }
}

const streamsAtOnce = 4

type Standings = ReadonlyMap<string, Standing>

/** How each stream stands, once for all of its shards: each of them would read the checkpoints of all. */
async function standingsOf(
  results: readonly StreamResult[],
  streams: readonly Stream[],
  deps: FinishDeps,
): Promise<Standings> {
  const names = [...new Set(results.map(({ stream }) => withoutShard(stream)))]
  const standing = async (name: string) => {
    const units = streams.filter((unit) => withoutShard(unit.name) === name)
    return [name, standingOf(units, await readCheckpoints(units, deps))] as const
  }
  return new Map(await mapConcurrently(names, streamsAtOnce, standing))
}

function recordOf(
  { stream, status, reason, counts, ofRun = null, notices = [] }: StreamResult,
  standings: Standings,
  { rules }: FinishDeps,
): RunRecord['streams'][number] {
  const inForce = rules[withoutShard(stream)]
  return {
    ...{ stream, status, reason, counts, ofRun },
    ...(notices.length > 0 ? { notices: [...notices] } : {}),
    standing: standings.get(withoutShard(stream))!,
    ...(inForce ? { rules: { ...inForce } } : {}),
  }
}

/** Tells others; what kept it from that, if anything did. */
async function announce(
  record: RunRecord,
  { manifest, deps }: { manifest: Manifest; deps: FinishDeps },
): Promise<{ error: unknown } | null> {
  try {
    await deps.announcer.announce(record, manifest)
    return null
  } catch (error) {
    return { error }
  }
}

/** The table follows from the records: what is missing in it, the next run adds. */
async function note(record: RunRecord, { runsTable, log }: FinishDeps): Promise<void> {
  try {
    await runsTable.note(record)
  } catch (error) {
    log.warn('The table of runs was not written; the next run adds what is missing.', { reason: messageOf(error) })
  }
}

function isUnderway({ streams }: RunRecord) {
  return streams.some(({ status }) => status === 'running')
}

type Published = Extract<PublishResult, { manifest: Manifest }>

/** Where time is limited, it waits as long as it can: another publisher may be bringing large tables up to date. */
function publishPatiently(run: Run, streams: readonly Stream[], deps: FinishDeps): Promise<Published> {
  const publish = async () => {
    const result = await publishRun(run, streams, deps)
    return 'manifest' in result ? result : stillPublishing(result.heldBy)
  }
  const leftMs = deps.deadline.remainingMs() - marginMs
  const inTime = Number.isFinite(leftMs) ? Math.floor(leftMs / publishWaitMs) : 0
  const attempts = Math.max(publishTries, inTime)
  return retry(publish, { attempts, waits: { clock: deps.clock, afterMs: () => publishWaitMs } })
}

function statusOf(results: readonly StreamResult[]): RunRecord['status'] {
  const complete = results.filter(({ status }) => status === 'complete').length
  if (complete === results.length) return 'complete'
  // What comes from this worker's own ledger says nothing of the platform.
  const ofPlatform = new Set(everyStream.filter(isPlatformStream).map(({ name }) => name))
  const lists = results.filter(({ stream }) => ofPlatform.has(withoutShard(stream)))
  return lists.length > 0 && lists.every(({ status }) => status === 'failed') ? 'failed' : 'partial'
}

function stillPublishing(heldBy: string) {
  return new RetryableError(
    `Another worker (${heldBy}) is publishing; what this run completed is published by the next one.`,
    {
      code: 'storage_unavailable',
    },
  )
}
