import { messageOf, RetryableError, SyncError } from '../core/errors.ts'
import { defaultRetry } from '../platform/retry.ts'
import type { Stream } from '../streams/stream.ts'
import { announceScan } from './announce.ts'
import type { Attempt, Run, StreamResult, SyncDeps } from './attempt.ts'
import type { StreamStatus } from './checkpoint.ts'
import { completeScan } from './complete.ts'
import { bufferIsFull, startFlush } from './flush.ts'
import { measureAttempt } from './measure.ts'
import { openScan } from './open-scan.ts'
import { fromTheStart, readPages } from './pages.ts'
import { takePage } from './take-page.ts'

/**
 * One attempt at a stream: goes on where the last one stopped, until the list ends, time is short, or the platform says
 * wait. The same on Lambda and on a laptop; the caller calls again on `paused` and `rate_limited`.
 *
 * The order is the promise: `startFlush` makes what was read durable and then moves the checkpoint; nothing else moves
 * it. A death anywhere repeats at most what was read since, and every write is safe to repeat.
 */
export async function syncStream(stream: Stream, run: Run, deps: SyncDeps): Promise<StreamResult> {
  const opened = await openScan(stream, run, deps)
  if ('result' in opened) return opened.result
  const { attempt } = opened
  try {
    await announceScan(attempt)
    for await (const page of readPages(attempt)) {
      takePage(attempt, page)
      if (bufferIsFull(attempt)) await startFlush(attempt)
    }
    await flushRest(attempt)
    if (attempt.scan.position.at !== 'end') return await stopFor(attempt, { status: 'paused', reason: null })
    return measureAttempt(await completeScan(attempt), attempt)
  } catch (error) {
    return await giveUp(attempt, error)
  } finally {
    attempt.lease.stop()
  }
}

async function flushRest(attempt: Attempt) {
  if (attempt.buffer.received > 0) await startFlush(attempt)
  await attempt.flushing
}

/** Keeps what was read before the trouble, if storage still takes it, and leaves a status that says what to do. */
async function giveUp(attempt: Attempt, error: unknown): Promise<StreamResult> {
  const { deps, stream, lease } = attempt
  if (error instanceof SyncError && error.code === 'lease_lost')
    return { ...resultOf(attempt, 'running'), reason: error.message }
  try {
    if (!lease.signal.aborted) await flushRest(attempt)
  } catch (flushError) {
    deps.log.warn('What was read last could not be kept; the next attempt reads it again.', {
      stream: stream.name,
      reason: messageOf(flushError),
    })
  }
  forgetStalledPass(attempt, error)
  const status = statusFor(error, attempt)
  const retryAfterMs = error instanceof SyncError && status === 'rate_limited' ? (error.retryAfterMs ?? null) : null
  const result = await stopFor(attempt, { status, reason: messageOf(error), retryAfterMs })
  // What nobody threw on purpose is a bug: it surfaces with its stack, after the lease is given up.
  if (!(error instanceof SyncError)) throw error
  return result
}

const astray = new Set<string>(['stalled_list', 'page_token_refused'])

/** The tokens of a list that went astray lead nowhere good: the next attempt begins at its first page. */
function forgetStalledPass(attempt: Attempt, error: unknown) {
  const { scan } = attempt.checkpoint
  if (scan === null || !(error instanceof SyncError) || !astray.has(error.code)) return
  attempt.checkpoint = { ...attempt.checkpoint, scan: fromTheStart(scan) }
}

function statusFor(error: unknown, attempt: Attempt): StreamStatus {
  if (!(error instanceof SyncError)) return 'failed'
  if (error.code === 'forbidden') return 'skipped'
  if (error.code === 'rate_limited' && error.retryAfterMs !== undefined) return 'rate_limited'
  return wasCutShort(error, attempt) ? 'paused' : 'failed'
}

/** A request that had not the time for its repetitions says nothing of the platform: the next attempt asks again. */
function wasCutShort(error: SyncError, { deps: { deadline, settings } }: Attempt): boolean {
  return error instanceof RetryableError && deadline.remainingMs() < settings.marginMs + defaultRetry.totalMs
}

type Stop = { status: StreamStatus; reason: string | null; retryAfterMs?: number | null }

/** Gives the lease up with a status. If even that fails the lease runs out by itself. */
async function stopFor(attempt: Attempt, { status, reason, retryAfterMs = null }: Stop): Promise<StreamResult> {
  const { deps, lease, run, stream } = attempt
  const checkpoint = { ...attempt.checkpoint, status, reason, statusAt: deps.clock.now(), runId: run.runId }
  try {
    await deps.checkpoints.save(checkpoint, { owner: lease.owner, expiresAt: lease.expiresAt, release: true })
  } catch (error) {
    deps.log.error('The status of a stream could not be written.', { stream: stream.name, reason: messageOf(error) })
  }
  return measureAttempt({ ...resultOf(attempt, status), reason, retryAfterMs }, attempt)
}

function resultOf({ stream, run, scan }: Attempt, status: StreamStatus): StreamResult {
  return {
    stream: stream.name,
    runId: run.runId,
    status,
    reason: null,
    retryAfterMs: null,
    counts: scan.counts,
  }
}
