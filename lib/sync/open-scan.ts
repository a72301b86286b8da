import { messageOf, SyncError } from '../core/errors.ts'
import { shardLabel } from '../streams/shards.ts'
import type { Stream } from '../streams/stream.ts'
import { type Checkpoint, Counts, type Scan } from './checkpoint.ts'
import type { Run, ScanContext, StreamResult, SyncDeps } from './context.ts'
import { createFlusher, type Flusher, type Progress } from './flusher.ts'
import { createIntake, type Intake } from './intake.ts'
import { type Lease, watchLease } from './lease.ts'
import { type Known, loadKnown } from './load-known.ts'
import { rulesOf } from './modes.ts'
import { createPageReader, type PageReader } from './page-reader.ts'
import { noParents } from './parent-counts.ts'
import { createParentLists } from './parent-lists.ts'
import { type ParentPlan, planParents } from './parent-plan.ts'
import { nothingToRead, parentsIndexOf, placedIn } from './parent-scan.ts'
import type { Source, Waiting } from './ports.ts'

/** An attempt at work: what it works with, what was known when it began, and the three owners of the scan's state. */
export type Attempt = {
  readonly context: ScanContext
  readonly known: KnownBefore
  readonly waiting: Waiting
  /** Of lists per parent: which are read. */
  readonly plan: ParentPlan | null
  readonly reader: PageReader
  readonly intake: Intake
  readonly flusher: Flusher
}

/** What was known of the stream before the scan, apart from its keys, which are the intake's. */
export type KnownBefore = Readonly<Pick<Known, 'records' | 'hadMissing' | 'hadUncertain' | 'hadRenewed' | 'indexLost'>>

/** How far an attempt has read, and what it made of it. */
export function progressOf({ reader, intake }: Pick<Attempt, 'reader' | 'intake'>): Progress {
  return { reading: reader.state, taken: intake.state }
}

type Opened = { attempt: Attempt } | { result: StreamResult }

/**
 * Takes the lease, finds or begins the scan, and loads what is known. Answers a result instead when there is nothing
 * to do: the run has done this stream already, the platform wants no request yet, or another worker is at it.
 */
export async function openScan(stream: Stream, run: Run, deps: SyncDeps): Promise<Opened> {
  const before = await deps.checkpoints.read(stream.name)
  const ended = before && (finishedIn(before, run) ?? waitingFor(before, run, deps.clock.now()))
  if (ended) return { result: ended }
  const parentsIndex = await parentsIndexOf(stream, deps)
  const result = nothingToRead(stream, { before, parentsIndex, run })
  return result ? { result } : open({ stream, run, deps, parentsIndex, begin: newScan })
}

/** The recorded result, if this run has already finished the stream: a schedule may fire twice. */
function finishedIn(checkpoint: Checkpoint, run: Run): StreamResult | null {
  const { runId, status, reason, scan, lastScan, stream, notices = [] } = checkpoint
  if (scan !== null || runId !== run.runId || (status !== 'complete' && status !== 'suspect')) return null
  const { counts = null, ofRun } = lastScan ?? {}
  return { stream, runId, status, reason, retryAfterMs: null, counts, ofRun, notices }
}

/** The wait that the platform asked for, whichever run it told, while it lasts. */
function waitingFor({ stream, notBefore = 0, status, reason }: Checkpoint, { runId }: Run, now: number) {
  if (notBefore <= now) return null
  const why = status === 'rate_limited' && reason !== null ? reason : `${stream}: ${untilText(notBefore)}`
  return { stream, runId, status: 'rate_limited', reason: why, retryAfterMs: notBefore - now, counts: null } as const
}

/** The time of day at which a stream may go on, in a sentence. */
export function untilText(notBefore: number): string {
  return `The platform asked to wait: no request is sent before ${new Date(notBefore).toISOString()}.`
}

/** Opens an attempt that reads no list: a scan that carries out the deletes which were withheld. */
export function openApproval(stream: Stream, run: Run, deps: SyncDeps): Promise<Opened> {
  const begin: Opening['begin'] = (...scan) => ({ ...newScan(...scan), approval: true, position: { at: 'end' } })
  return open({ stream, run, deps, parentsIndex: null, begin })
}

type Opening = {
  stream: Stream
  run: Run
  deps: SyncDeps
  /** The index of the parents as it was found before the lease was taken. */
  parentsIndex: string | null
  begin: (checkpoint: Checkpoint, run: Run, now: number) => Scan
}

/** Takes the lease and loads the stream; the lease is given back when that fails. */
async function open(opening: Opening): Promise<Opened> {
  const { stream, run, deps } = opening
  const owner = deps.newOwner()
  const now = deps.clock.now()
  const ttlMs = deps.settings.leaseMs
  const expiresAt = now + ttlMs
  const acquired = await deps.checkpoints.acquire(stream.name, { owner, now, expiresAt })
  if ('heldBy' in acquired) return { result: busy(stream, run, reasonOf(acquired)) }
  const lease = watchLease(deps.clock, { owner, expiresAt, ttlMs })
  try {
    return { attempt: await attemptAt(acquired, lease, opening) }
  } catch (error) {
    lease.stop()
    // It stalled while it loaded, and another worker went on.
    if (error instanceof SyncError && error.code === 'lease_lost') return { result: busy(stream, run, error.message) }
    await giveBack(acquired.checkpoint, { owner, expiresAt }, deps)
    throw error
  }
}

/** Goes on with the scan in progress, if anything of it is durable and can be read; otherwise begins one. */
async function attemptAt(
  { checkpoint, waiting }: { checkpoint: Checkpoint; waiting: Waiting },
  lease: Lease,
  opening: Opening,
): Promise<Attempt> {
  const { stream, run, deps, parentsIndex, begin } = opening
  const known = await loadKnown(checkpoint, { deps, rules: rulesOf(stream) }, lease.signal)
  const begun = known.continued ?? begin(checkpoint, run, deps.clock.now())
  const { scan, plan, source } = await planned(begun, known, { stream, deps, parentsIndex, signal: lease.signal })
  const { scanId, runId, firstFence, startedAt, approval, counts } = scan
  const takenUp = scan.takenUp?.runId === run.runId ? scan.takenUp : { runId: run.runId, counts }
  const context: ScanContext = {
    stream,
    run,
    scan: { scanId, runId, firstFence, startedAt, approval, takenUp },
    window: rulesOf(stream).window(stream, checkpoint.lastScan, startedAt),
    fence: checkpoint.fence,
    lease,
    observer: deps.observers[stream.name],
    deps: { ...deps, source },
  }
  const { position, pass, restarts, barrenPages, pageSize, unknownMembers, parents, unkeyed, segments } = scan
  const { pages, apiCalls } = counts
  const flusher = createFlusher(context, { checkpoint, segments, files: known.files })
  const intake = createIntake(context, { table: known.table, indexed: known.indexed, state: { unkeyed, counts } })
  const reader = createPageReader(context, {
    state: { position, pass, restarts, barrenPages, pageSize, unknownMembers, parents, pages, apiCalls },
    // Tokens of an earlier pass may come again.
    usedTokens: pass === begun.pass ? known.usedTokens : [],
    reserveMs: () => flusher.slowestMs + deps.settings.marginMs,
    recognizer: approval ? undefined : intake.recognizer(),
  })
  return { context, known, waiting, plan, reader, intake, flusher }
}

type Planned = { scan: Scan; plan: ParentPlan | null; source: Source }

/** Where there is a list per parent: chooses the lists, and puts the scan where it stands among them. */
async function planned(
  begun: Scan,
  { table, hadUncertain }: Known,
  { stream, deps, parentsIndex, signal }: Pick<Opening, 'stream' | 'deps' | 'parentsIndex'> & { signal: AbortSignal },
): Promise<Planned> {
  const { parent } = stream
  if (!parent || begun.approval) return { scan: begun, plan: null, source: deps.source }
  const plan = await planParents({ parent, deps, parentsIndex, signal, table }, hadUncertain)
  const { scan, first } = placedIn(begun, plan, table)
  const source = createParentLists(stream, { planned: plan.planned, first }, deps)
  const { miscounted } = scan.parents ?? noParents
  return { scan: { ...scan, parents: { ...noParents, miscounted } }, plan, source }
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

function newScan(checkpoint: Checkpoint, run: Run, now: number): Scan {
  // Shards share tables: a row tells which scan it is of.
  const label = shardLabel(checkpoint.stream)
  return {
    scanId: [run.runId, ...(label === '' ? [] : [label]), checkpoint.fence].join('-'),
    runId: run.runId,
    // Attempts that died before their first checkpoint count as attempts at this scan: what they left is removed with it.
    firstFence: (checkpoint.lastScan?.fences.last ?? 0) + 1,
    // Readers take the rows of the later scan, so that it may not begin at the same instant, or before by another's clock.
    startedAt: Math.max(now, (checkpoint.lastScan?.startedAt ?? 0) + 1),
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
