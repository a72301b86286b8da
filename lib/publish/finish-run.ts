import { messageOf, RetryableError } from '../core/errors.ts'
import type { Stream } from '../streams/stream.ts'
import type { Run, StreamResult } from '../sync/context.ts'
import type { Manifest, RunRecord } from './manifest.ts'
import type { Announcer, Runs } from './ports.ts'
import { type PublishDeps, publishRun } from './publish.ts'

/** What a run brings to the lake that is on no list of the platform: `scan` leaves a scan that waits for publish. */
export type OtherScan = { readonly stream: Stream; scan(run: Run): Promise<void> }

/** What finishing a run needs from the world. */
export type FinishDeps = PublishDeps & { runs: Runs; announcer: Announcer; others?: readonly OtherScan[] }

/** What a run came to. */
export type RunResult = { record: RunRecord; manifest: Manifest }

const publishTries = 10
const publishWaitMs = 2_000

/**
 * Publishes what a run's streams completed, announces how the run ended, and records it. What is on record was
 * announced before; a record of a run that another worker had in part is not the last word on it.
 */
export async function finishRun(
  run: Run,
  { streams, results }: { streams: readonly Stream[]; results: readonly StreamResult[] },
  deps: FinishDeps,
): Promise<RunResult> {
  const others = await scanOthers(run, deps)
  const manifest = await publishPatiently(run, [...streams, ...others], deps)
  const record: RunRecord = {
    runId: run.runId,
    scheduledAt: run.scheduledAt,
    finishedAt: deps.clock.now(),
    status: statusOf(results),
    streams: results.map(({ stream, status, reason, counts, notices = [] }) => ({
      stream,
      status,
      reason,
      counts,
      ...(notices.length > 0 ? { notices: [...notices] } : {}),
    })),
  }
  const before = await deps.runs.read(run)
  if (before === null || isUnderway(before)) await deps.announcer.announce(record, manifest)
  await deps.runs.write(record)
  return { record, manifest }
}

function isUnderway({ streams }: RunRecord) {
  return streams.some(({ status }) => status === 'running')
}

/** What can't be brought now is brought by the next run: it must not keep the others from being published. */
async function scanOthers(run: Run, { others = [], log }: FinishDeps): Promise<Stream[]> {
  for (const { stream, scan } of others) {
    await scan(run).catch((error: unknown) => {
      log.error('A table was not brought up to date; the next run does it.', {
        stream: stream.name,
        reason: messageOf(error),
      })
    })
  }
  return others.map(({ stream }) => stream)
}

async function publishPatiently(run: Run, streams: readonly Stream[], deps: FinishDeps): Promise<Manifest> {
  for (let tries = 1; ; tries++) {
    const result = await publishRun(run, streams, deps)
    if ('manifest' in result) return result.manifest
    if (tries === publishTries) throw stillPublishing(result.heldBy)
    await deps.clock.sleep(publishWaitMs)
  }
}

function statusOf(results: readonly StreamResult[]): RunRecord['status'] {
  const complete = results.filter(({ status }) => status === 'complete').length
  const failed = results.filter(({ status }) => status === 'failed').length
  if (complete === results.length) return 'complete'
  return failed === results.length ? 'failed' : 'partial'
}

function stillPublishing(heldBy: string) {
  return new RetryableError(
    `Another worker (${heldBy}) is publishing; what this run completed is published by the next one.`,
    {
      code: 'storage_unavailable',
    },
  )
}
