import { messageOf, SyncError } from '../core/errors.ts'
import type { Stream } from '../streams/stream.ts'
import { requireRoom } from './backlog.ts'
import type { StreamStatus } from './checkpoint.ts'
import { completeScan, settleQuiet } from './complete.ts'
import type { Run, ScanContext, StreamResult, SyncDeps } from './context.ts'
import { countsOfRun } from './counts-of-run.ts'
import { wasCutShort } from './cut-short.ts'
import { emitMetrics } from './emit-metrics.ts'
import { countsOf, type Stop } from './flusher.ts'
import { type Attempt, openScan, progressOf, untilText } from './open-scan.ts'

/**
 * One attempt at a stream: goes on where the last one stopped, until the list ends, time is short, or the platform says
 * wait. The same on Lambda and on a laptop; the caller calls again on `paused` and `rate_limited`.
 *
 * The order is the promise: the flusher makes what was read durable and then moves the checkpoint; nothing else moves
 * it. A death anywhere repeats at most what was read since, and every write is safe to repeat.
 */
export async function syncStream(stream: Stream, run: Run, deps: SyncDeps): Promise<StreamResult> {
  const opened = await openScan(stream, run, deps)
  if ('result' in opened) return opened.result
  const { attempt } = opened
  const { context, reader, intake, flusher } = attempt
  try {
    requireRoom(stream.name, attempt.waiting)
    const settled = await settleQuiet(attempt)
    if (settled) return settled
    flusher.announce(progressOf(attempt))
    for await (const page of reader.pages()) {
      const newIds = intake.take(page)
      reader.advance(page, newIds)
      if (intake.isFull) await flush(attempt)
    }
    // Where nothing of what waits outlives the scan, what completes it says all of it.
    if (reader.hasEnded && !intake.hasNews) await flusher.written()
    else await flushRest(attempt)
    if (!reader.hasEnded) return await stopFor(attempt, { status: 'paused', reason: null })
    return emitMetrics(await completeScan(attempt), context)
  } catch (error) {
    return await giveUp(attempt, error)
  } finally {
    context.lease.stop()
  }
}

/** Hands over what was read, with the place it was read to. */
function flush(attempt: Attempt): Promise<void> {
  const { reader, intake, flusher } = attempt
  return flusher.write(intake.handOver(), { ...progressOf(attempt), tokens: reader.takeTokens() })
}

async function flushRest(attempt: Attempt): Promise<void> {
  if (!attempt.intake.isEmpty) await flush(attempt)
  await attempt.flusher.written()
}

/** Keeps what was read before the trouble, if storage still takes it, and leaves a status that says what to do. */
async function giveUp(attempt: Attempt, error: unknown): Promise<StreamResult> {
  const { deps, stream, lease } = attempt.context
  if (error instanceof SyncError && error.code === 'lease_lost')
    return resultOf(attempt, { status: 'running', reason: error.message })
  try {
    if (!lease.signal.aborted) await flushRest(attempt)
  } catch (flushError) {
    deps.log.warn('What was read last could not be kept; the next attempt reads it again.', {
      stream: stream.name,
      reason: messageOf(flushError),
    })
  }
  const status = statusFor(error, attempt.context)
  const retryAfterMs = error instanceof SyncError && status === 'rate_limited' ? (error.retryAfterMs ?? null) : null
  // Whoever stopped a wait asks for none.
  const notBefore = retryAfterMs ? deps.clock.now() + retryAfterMs : null
  const rereads = error instanceof SyncError && leadsNowhere.has(error.code)
  const reason = notBefore === null ? messageOf(error) : `${messageOf(error)} ${untilText(notBefore)}`
  const result = await stopFor(attempt, { status, reason, retryAfterMs, notBefore, rereads })
  // What nobody threw on purpose is a bug: it surfaces with its stack, after the lease is given up.
  if (!(error instanceof SyncError)) throw error
  return result
}

/** After these the tokens of the list lead nowhere good: the next attempt begins at its first page. */
const leadsNowhere = new Set<string>(['stalled_list', 'page_token_refused'])

function statusFor(error: unknown, context: ScanContext): StreamStatus {
  if (!(error instanceof SyncError)) return 'failed'
  if (error.code === 'forbidden') return 'skipped'
  if (error.code === 'rate_limited' && error.retryAfterMs !== undefined) return 'rate_limited'
  return wasCutShort(error, context.deps) ? 'paused' : 'failed'
}

type Ending = Pick<Stop, 'status' | 'reason'> & Partial<Stop> & { retryAfterMs?: number | null }

/** Gives the lease up with a status. If even that fails the lease runs out by itself. */
async function stopFor(attempt: Attempt, ending: Ending): Promise<StreamResult> {
  const { deps, stream } = attempt.context
  const { status, reason, rereads = false, notBefore = null } = ending
  try {
    await attempt.flusher.stop({ status, reason, rereads, notBefore })
  } catch (error) {
    deps.log.error('The status of a stream could not be written.', { stream: stream.name, reason: messageOf(error) })
  }
  return emitMetrics(resultOf(attempt, ending), attempt.context)
}

function resultOf(attempt: Attempt, { status, reason, retryAfterMs = null }: Ending): StreamResult {
  const { stream, run } = attempt.context
  const counts = countsOf(progressOf(attempt))
  const ofRun = countsOfRun(counts, attempt.context)
  return { stream: stream.name, runId: run.runId, status, reason, retryAfterMs, counts, ofRun }
}
