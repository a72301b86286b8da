import type { Table } from '../streams/table.ts'
import type { Batch } from './batch.ts'
import type { Checkpoint, Counts, Notice, PartFile, Scan, ScanSummary, Segment, StreamStatus } from './checkpoint.ts'
import type { ScanContext } from './context.ts'
import { nextPass, type ReadingState } from './page-reader.ts'
import type { PartPath } from './ports.ts'
import { partsOf, withOnePart } from './segments.ts'
import type { IntakeState } from './taking.ts'
import { observedRows, writeBatch } from './write-batch.ts'

/** How far a scan has come, apart from what is written of it. */
export type Progress = { reading: ReadingState; taken: IntakeState }

/**
 * How an attempt ends without completing its scan. `rereads`: the next attempt begins at the first page. `notBefore`: not
 * before that time, Unix ms.
 */
export type Stop = { status: StreamStatus; reason: string | null; rereads: boolean; notBefore: number | null }

/** How a scan ends that has read its list. */
export type Completion = {
  summary: ScanSummary
  index: Checkpoint['index']
  notices: Notice[]
  readWith: string | null
}

/** The owner of what is durable: the only one that writes a scan's objects, and the only one that moves the checkpoint. */
export type Flusher = {
  /** Begins to name a scan in the checkpoint, which is there before anything of the scan is written; the reading goes on meanwhile. */
  announce(progress: Progress): void
  /** Begins to write a batch once the one before it is written; the reading goes on meanwhile. Rejects when that one failed. */
  write(batch: Batch, progress: Progress & { tokens: string[] }): Promise<void>
  /** Resolves when nothing is being written; rejects when the last batch failed. */
  written(): Promise<void>
  /** Writes rows of an observed table into the scan's files, in a part of their own. */
  writeObserved(table: Table, records: readonly unknown[]): Promise<void>
  /** Gives the lease up with a status. */
  stop(stop: Stop): Promise<void>
  /** Gives the lease up and leaves the checkpoint as it is. */
  release(): Promise<void>
  /** Gives the lease up as after a scan that found everything as it was, though none was begun. */
  settle(readWith: string): Promise<void>
  /** Ends the scan: it waits for publish from here on. */
  complete(completion: Completion): Promise<void>
  /** The checkpoint as it was last saved, or acquired. */
  readonly checkpoint: Checkpoint
  /** Lake files of the whole scan. */
  readonly files: readonly PartFile[]
  /** Whether anything of the scan is durable. */
  readonly hasParts: boolean
  /** The longest flush so far: what one more would take. */
  readonly slowestMs: number
}

type Acquired = { checkpoint: Checkpoint; segments: readonly Segment[]; files: readonly PartFile[] }

/** The flusher of a scan that goes on from a checkpoint, with the files that its attempts before this one wrote. */
export function createFlusher(context: ScanContext, { checkpoint, segments, files }: Acquired): Flusher {
  const flushing: Flushing = {
    context,
    checkpoint,
    segments: [...segments],
    files: [...files],
    writing: Promise.resolve(),
    observedParts: 0,
    slowestMs: 0,
  }
  return {
    announce: (progress) => {
      setWriting(flushing, announce(flushing, scanOf(context, progress, flushing.segments)))
    },
    write: (batch, progress) => startFlush(flushing, batch, progress),
    written: () => flushing.writing,
    writeObserved: (table, records) => writeObserved(flushing, table, records),
    stop: (how) => stop(flushing, how),
    release: () => release(flushing.checkpoint, context),
    settle: (readWith) => settle(flushing, readWith),
    complete: (completion) => complete(flushing, completion),
    get checkpoint() {
      return flushing.checkpoint
    },
    get files() {
      return flushing.files
    },
    get hasParts() {
      return flushing.segments.length > 0
    },
    get slowestMs() {
      return flushing.slowestMs
    },
  }
}

/** The flusher's own state. Nobody else sees it. */
type Flushing = {
  readonly context: ScanContext
  readonly files: PartFile[]
  checkpoint: Checkpoint
  segments: Segment[]
  /** The write that the next one waits for: at most two batches are alive. */
  writing: Promise<void>
  observedParts: number
  slowestMs: number
}

/**
 * Only under its name can a later run find the files that a scan leaves if it dies before its first flush is done, since
 * they lie under its own run and date. A scan that goes on is named already.
 */
async function announce(flushing: Flushing, scan: Scan): Promise<void> {
  const { context, checkpoint } = flushing
  if (checkpoint.scan?.scanId === context.scan.scanId) return
  context.lease.signal.throwIfAborted()
  if (checkpoint.scan !== null) await clearLake(context, checkpoint.scan)
  // That may have taken longer than the lease.
  context.lease.signal.throwIfAborted()
  await moveCheckpoint(flushing, { ...checkpoint, scan, runId: context.run.runId })
}

async function startFlush(flushing: Flushing, batch: Batch, { tokens, ...progress }: Progress & { tokens: string[] }) {
  await flushing.writing
  const { context } = flushing
  flushing.segments = withOnePart(flushing.segments, context.fence)
  // What is read from here on belongs to the next flush.
  const moved = scanOf(context, progress, flushing.segments)
  setWriting(flushing, flush(flushing, { batch, tokens, moved }))
}

function setWriting(flushing: Flushing, writing: Promise<void>): void {
  flushing.writing = writing
  writing.catch(() => {
    // Awaited by the next flush or by the end of the attempt.
  })
}

/** The promise of the whole engine is the order here: everything is durable before the checkpoint moves. */
async function flush(flushing: Flushing, { batch, tokens, moved }: { batch: Batch; tokens: string[]; moved: Scan }) {
  const { context } = flushing
  const { deps } = context
  const began = deps.clock.now()
  const path = partPath(context, partsOf(moved.segments) - 1)
  const header = { pass: moved.pass, tokens, index: flushing.checkpoint.index?.key ?? null }
  const mayExist = flushing.checkpoint.scansCompleted > 0
  const written = await writeBatch(context, { batch, header, path, mayExist })
  await moveCheckpoint(flushing, { ...flushing.checkpoint, scan: moved, ...atWork(context) })
  flushing.files.push(...written)
  flushing.slowestMs = Math.max(flushing.slowestMs, deps.clock.now() - began)
  deps.log.debug('Flushed.', { stream: path.stream, part: path.part, received: batch.received })
}

async function moveCheckpoint(flushing: Flushing, next: Checkpoint): Promise<void> {
  const { deps, lease } = flushing.context
  const expiresAt = lease.proposal()
  await deps.checkpoints.save(next, { owner: lease.owner, expiresAt })
  lease.extend(expiresAt)
  flushing.checkpoint = next
}

async function writeObserved(flushing: Flushing, table: Table, records: readonly unknown[]): Promise<void> {
  const { context, segments, files } = flushing
  const path = partPath(context, partsOf(segments) + flushing.observedParts)
  flushing.observedParts += 1
  files.push(await context.deps.lake.writeRows(path, observedRows(table, records, path), context.lease.signal))
}

function stop({ context, checkpoint }: Flushing, { rereads, notBefore, ...how }: Stop): Promise<void> {
  const { scan } = checkpoint
  const waits = notBefore === null ? {} : { notBefore }
  const stopped = { ...checkpoint, ...how, ...waits, scan: scan && rereads ? { ...scan, ...nextPass(scan) } : scan }
  return release({ ...stopped, statusAt: context.deps.clock.now(), runId: context.run.runId }, context)
}

function settle({ context, checkpoint }: Flushing, readWith: string): Promise<void> {
  const settled = { status: 'complete', reason: null, statusAt: context.deps.clock.now() } as const
  // The run is not named: what it would be told again are the counts of the scan before.
  return release({ ...checkpoint, ...settled, notices: [], readWith }, context)
}

function release(checkpoint: Checkpoint, { deps, lease: { owner, expiresAt } }: ScanContext): Promise<void> {
  return deps.checkpoints.save(checkpoint, { owner, expiresAt, release: true })
}

function complete({ context, checkpoint }: Flushing, { summary, index, notices, readWith }: Completion): Promise<void> {
  const { deps, run, lease } = context
  const completed: Checkpoint = {
    ...checkpoint,
    status: summary.status,
    reason: summary.reason,
    statusAt: summary.completedAt,
    runId: run.runId,
    scan: null,
    scansCompleted: checkpoint.scansCompleted + 1,
    lastScan: summary,
    completeAt: isWhole(summary) ? summary.startedAt : checkpoint.completeAt,
    index,
    readWith,
    notices,
    // An approval asks the platform nothing, and does not know better.
    notBefore: context.scan.approval ? checkpoint.notBefore : undefined,
  }
  return deps.checkpoints.complete(completed, { owner: lease.owner, expiresAt: lease.expiresAt }, summary)
}

/** Whether a scan says how its list was: a suspect one withheld what it found gone, and an approval of deletes read no list. */
function isWhole({ status, counts }: ScanSummary): boolean {
  return status === 'complete' && counts.pages > 0
}

/** What a scan has counted, requests and pages included. */
export function countsOf({ reading: { pages, apiCalls }, taken }: Progress): Counts {
  return { ...taken.counts, pages, apiCalls }
}

/** A scan as a checkpoint holds it. A copy: its owners go on. */
function scanOf(context: ScanContext, progress: Progress, segments: Segment[]): Scan {
  const { pages: _pages, apiCalls: _apiCalls, ...place } = progress.reading
  const { unkeyed } = progress.taken
  return structuredClone({ ...context.scan, ...place, unkeyed, segments, counts: countsOf(progress) })
}

// The status of the scan before must not pass for this one's if the attempt dies.
function atWork({ run, deps }: ScanContext): Pick<Checkpoint, 'status' | 'reason' | 'statusAt' | 'runId'> {
  return { status: 'running', reason: null, statusAt: deps.clock.now(), runId: run.runId }
}

/**
 * Removes the lake files of a scan that was given up: no manifest will list one. Its working objects stay until publish:
 * they tell which records it may have written.
 */
async function clearLake({ deps, stream, fence }: ScanContext, given: Scan): Promise<void> {
  const { scanId, runId, startedAt, firstFence } = given
  const fences = { first: firstFence, last: fence - 1 }
  const orphans = await deps.lake.removeOrphans([{ stream: stream.name, scanId, runId, startedAt, fences }], stream, [])
  if (orphans > 0) deps.log.info('Removed what a scan that was given up left.', { stream: stream.name, orphans })
}

/** Where the objects of an attempt's scan lie. */
export function scanPath({ stream, scan, fence }: ScanContext): Omit<PartPath, 'part'> {
  const { scanId, runId, startedAt } = scan
  return { stream: stream.name, scanId, runId, startedAt, fence }
}

function partPath(context: ScanContext, part: number): PartPath {
  return { ...scanPath(context), part }
}
