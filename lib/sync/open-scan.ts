import { messageOf, SyncError } from '../core/errors.ts'
import { inspectorOf } from '../streams/drift.ts'
import type { Stream } from '../streams/stream.ts'
import type { Attempt, Run, StreamResult, SyncDeps } from './attempt.ts'
import { emptyBuffer } from './buffer.ts'
import { type Checkpoint, Counts, type Scan } from './checkpoint.ts'
import { type Lease, watchLease } from './lease.ts'
import { countKnown, loadKnown } from './load-known.ts'
import { doubt, findLeftovers, type Known, replayScan } from './replay.ts'

/**
 * Takes the lease, finds or begins the scan, and loads what is known. Answers a result instead when there is nothing
 * to do: the run has done this stream already, or another worker is at it.
 */
export async function openScan(
  stream: Stream,
  run: Run,
  deps: SyncDeps,
): Promise<{ attempt: Attempt } | { result: StreamResult }> {
  const before = await deps.checkpoints.read(stream.name)
  const done = before && finishedIn(before, run)
  if (done) return { result: done }
  const opened = await openAttempt(stream, run, deps)
  return 'attempt' in opened ? opened : { result: opened.busy }
}

/** The recorded result, if this run has already finished the stream: a schedule may fire twice. */
function finishedIn(checkpoint: Checkpoint, run: Run): StreamResult | null {
  const { runId, status, reason, scan, lastScan, stream, remarks = [] } = checkpoint
  if (scan !== null || runId !== run.runId || (status !== 'complete' && status !== 'suspect')) return null
  return { stream, runId, status, reason, retryAfterMs: null, counts: lastScan?.counts ?? null, remarks }
}

/** Takes the lease and loads the stream; the lease is given back when that fails. */
export async function openAttempt(
  stream: Stream,
  run: Run,
  deps: SyncDeps,
): Promise<{ attempt: Attempt } | { busy: StreamResult }> {
  const owner = deps.newOwner()
  const now = deps.clock.now()
  const ttlMs = deps.settings.leaseMs
  const expiresAt = now + ttlMs
  const acquired = await deps.checkpoints.acquire(stream.name, { owner, now, expiresAt })
  if ('heldBy' in acquired) return { busy: busy(stream, run, reasonOf(acquired)) }
  const lease = watchLease(deps.clock, { owner, expiresAt, ttlMs })
  try {
    const { checkpoint } = acquired
    const { known, scan } = await loadScan(checkpoint, run, { deps, lease })
    return { attempt: { ...known, stream, run, deps, lease, checkpoint, scan, ...freshState(stream, deps) } }
  } catch (error) {
    lease.stop()
    // It stalled while it loaded, and another worker went on.
    if (error instanceof SyncError && error.code === 'lease_lost') return { busy: busy(stream, run, error.message) }
    await giveBack(acquired.checkpoint, { owner, expiresAt }, deps)
    throw error
  }
}

function busy(stream: Stream, { runId }: Run, reason: string): StreamResult {
  return {
    stream: stream.name,
    runId,
    status: 'running',
    reason,
    retryAfterMs: null,
    counts: null,
  }
}

function reasonOf({ heldBy, until }: { heldBy: string; until: number }): string {
  return `another worker (${heldBy}) is at it until ${new Date(until).toISOString()} at least`
}

/** So that the next attempt need not wait until the lease has run out; if this fails, too, it does. */
async function giveBack(checkpoint: Checkpoint, lease: { owner: string; expiresAt: number }, deps: SyncDeps) {
  try {
    await deps.checkpoints.save(checkpoint, { ...lease, release: true })
  } catch (error) {
    deps.log.warn('A lease could not be given back; it runs out by itself.', {
      stream: checkpoint.stream,
      reason: messageOf(error),
    })
  }
}

function freshState(stream: Stream, deps: SyncDeps) {
  return {
    observer: deps.observers[stream.name],
    inspect: inspectorOf(stream),
    brokenKeys: new Set<string>(),
    buffer: emptyBuffer(deps.clock.now()),
    flushing: Promise.resolve(),
    slowest: { pageMs: 0, flushMs: 0 },
  }
}

// A pass is one byte of the key table. A list that broke so often is better read anew.
const passesAllowed = 200

/** Goes on with the scan in progress, if anything of it is durable and can be read; otherwise begins one. */
async function loadScan(
  checkpoint: Checkpoint,
  run: Run,
  { deps, lease }: { deps: SyncDeps; lease: Lease },
): Promise<{ known: Known; scan: Scan }> {
  const { scan, stream } = checkpoint
  const leftovers = await findLeftovers(checkpoint, deps)
  if (scan !== null && scan.segments.length > 0 && scan.pass < passesAllowed) {
    const known = await loadKnown(checkpoint, deps, lease.signal)
    if (await replayScan(scan, leftovers, { stream, deps, known }))
      return { known: countKnown(known), scan: structuredClone(scan) }
    deps.log.error('The parts of the scan in progress are unreadable; the scan begins anew.', {
      stream,
      scanId: scan.scanId,
    })
  }
  const known = await loadKnown(checkpoint, deps, lease.signal)
  await doubt(leftovers, { stream, deps, known })
  return { known: countKnown(known), scan: newScan(checkpoint, run, deps) }
}

function newScan(checkpoint: Checkpoint, run: Run, deps: SyncDeps): Scan {
  return {
    scanId: `${run.runId}-${checkpoint.fence}`,
    runId: run.runId,
    // Attempts that died before their first checkpoint count as attempts at this scan: what they left is removed with it.
    firstFence: (checkpoint.lastScan?.fences.last ?? 0) + 1,
    // Readers take the rows of the later scan, so that it may not begin at the same instant, or before by another's clock.
    startedAt: Math.max(deps.clock.now(), (checkpoint.lastScan?.startedAt ?? 0) + 1),
    position: { at: 'start' },
    approval: false,
    pass: 1,
    restarts: { runId: run.runId, count: 0 },
    barrenPages: 0,
    unkeyed: 0,
    segments: [],
    counts: Counts.parse({}),
  }
}
