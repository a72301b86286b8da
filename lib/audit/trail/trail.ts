import { FatalError, RetryableError } from '../../core/errors.ts'
import { fullJitter, type Jitter, retry } from '../../core/retry.ts'
import type { AppendPlan } from './append-plan.ts'
import { type ChainHeads, type HeadState, newHead } from './head.ts'
import { type ObjectWrite, packWrites, readStaged, stageWrites } from './pending-append.ts'
import type { HeadStore, TrailStore, VersionedHead, WorkStore } from './ports.ts'
import { readAhead } from './read-ahead.ts'
import { type ChainName, chainNames, keyOf } from './sealed.ts'

/** The stores that a writer of a trail works with, and how it waits for other writers. */
type TrailDeps = Jitter & { store: TrailStore; work: WorkStore; head: HeadStore }

/** Plans an append to chains that end at these heads; null when there is nothing. Called again when another was first. */
export type PlanAppend = (heads: ChainHeads, state: HeadState) => Promise<AppendPlan | null>

/**
 * The trail as its writers see it. The order that keeps it linear: the head first takes the objects to write (one
 * conditional write decides who is next), then they are stored, then the head moves. A writer that dies in between
 * leaves its objects in the head, and the next one stores them; storing them twice stores the same bytes.
 */
export type Trail = {
  /** Reads the head, and first finishes an append that a dead writer left pending. */
  recoverHead(signal: AbortSignal): Promise<VersionedHead>
  /** Appends what is planned, at once; false when the plan had nothing. */
  append(plan: PlanAppend, signal: AbortSignal): Promise<boolean>
  /** Remembers that entries and findings up to here have reached the warehouse. */
  markReported(reported: HeadState['reported'], signal: AbortSignal): Promise<void>
  read(chain: ChainName, sequence: number): Promise<Uint8Array | null>
}

const storesAtOnce = 16
const attempts = 200
const growth = { baseMs: 20, capMs: 400 }

/** A trail over its stores. Throws the errors of core/errors.ts. */
export function createTrail(deps: TrailDeps): Trail {
  const { store, head } = deps
  // What was just written need not be read again.
  const recent = new Map<string, Uint8Array>()

  const recoverOnce = async (signal: AbortSignal): Promise<VersionedHead | null> => {
    const current = (await head.read()) ?? { version: 0, state: newHead() }
    const done = await finishPending(deps, current, signal)
    if (!done) return null
    if (done.writes.length > 0) recent.clear()
    for (const { key, bytes } of done.writes) recent.set(key, bytes)
    return done.head
  }

  const recoverHead = (signal: AbortSignal) => untilFirst(() => recoverOnce(signal), deps, signal)

  const append = async (plan: PlanAppend, signal: AbortSignal): Promise<boolean> => {
    const appendOnce = async () => {
      const found = await recoverOnce(signal)
      return found && appendTo(found, plan, { ...deps, signal })
    }
    const appended = await untilFirst(appendOnce, deps, signal)
    if (appended) await recoverHead(signal)
    return appended
  }

  const markReported = async (reported: HeadState['reported'], signal: AbortSignal): Promise<void> => {
    const markOnce = async () => {
      const found = await recoverOnce(signal)
      return found && markIn(found, reported, head)
    }
    await untilFirst(markOnce, deps, signal)
  }

  const read = async (chain: ChainName, sequence: number) => {
    const key = keyOf(chain, sequence)
    return recent.get(key) ?? store.get(key)
  }

  return { recoverHead, append, markReported, read }
}

/** Makes attempts until one is not null: null says that another writer moved the head meanwhile. */
function untilFirst<T>(attempt: () => Promise<T | null>, jitter: Jitter, signal: AbortSignal): Promise<T> {
  const waits = fullJitter(jitter, growth)
  return retry(async () => (await attempt()) ?? overtaken(), { attempts, waits, signal })
}

function overtaken(): RetryableError {
  const message = `other writers of the audit trail were first ${attempts} times in a row; the next attempt goes on`
  return new RetryableError(message, { code: 'storage_unavailable' })
}

/** Has the head take what the plan says; false when that is nothing, null when another writer was first. */
async function appendTo(
  found: VersionedHead,
  plan: PlanAppend,
  { signal, ...deps }: TrailDeps & { signal: AbortSignal },
): Promise<boolean | null> {
  const { version, state } = found
  const planned = await plan(state.heads, state)
  if (!planned) return false
  if (!(await isFree(deps, found, planned))) return null
  const writes = await stageWrites(deps.work, packWrites(planned.writes), signal)
  signal.throwIfAborted()
  return (await deps.head.write({ ...state, pending: { next: planned.next, writes } }, version)) || null
}

async function markIn(
  { version, state }: VersionedHead,
  reported: HeadState['reported'],
  head: HeadStore,
): Promise<true | null> {
  if (reported.entries <= state.reported.entries && reported.findings <= state.reported.findings) return true
  return (await head.write({ ...state, reported }, version)) || null
}

/** Stores what the head still holds and moves it; null when another writer did so meanwhile. */
async function finishPending(
  { store, work, head }: TrailDeps,
  { version, state }: VersionedHead,
  signal: AbortSignal,
): Promise<{ head: VersionedHead; writes: ObjectWrite[] } | null> {
  const { pending } = state
  if (!pending) return { head: { version, state }, writes: [] }
  const writes = await readStaged(work, pending.writes)
  if (!writes) return whenMoved(head, version)
  const stored = readAhead(writes, storesAtOnce, ({ key, bytes }) =>
    store.put(key, bytes, { signal, contentType: contentTypeOf(key) }),
  )
  for await (const _ of stored) signal.throwIfAborted()
  const next = { ...state, heads: pending.next, pending: null }
  if (!(await head.write(next, version))) return null
  if ('staged' in pending.writes) await work.remove([pending.writes.staged])
  return { head: { version: version + 1, state: next }, writes }
}

function contentTypeOf(key: string): string {
  return key.endsWith('.json')
    ? 'application/json'
    : key.endsWith('.pem')
      ? 'application/x-pem-file'
      : 'application/octet-stream'
}

/** Answers null when the head has moved: only then may the objects that it waited for be cleared away. */
async function whenMoved(head: HeadStore, version: number): Promise<null> {
  if ((await head.read())?.version !== version) return null
  throw new FatalError('the audit head waits for entries that are gone from index/audit/staged/ in the lake bucket', {
    code: 'damaged_state',
  })
}

/**
 * Checks that an append writes over nothing: a head that was lost or set back is found here. False when another writer
 * has moved the head since it was read.
 */
async function isFree(
  { store, head }: TrailDeps,
  { version, state: { heads } }: VersionedHead,
  { next }: AppendPlan,
): Promise<boolean> {
  const grown = chainNames.filter((chain) => next[chain].sequence > heads[chain].sequence)
  for (const chain of grown) {
    const key = keyOf(chain, heads[chain].sequence + 1)
    const found = version === 0 ? (await store.list('audit/'))[0] : (await store.get(key)) ? key : undefined
    if (found === undefined) continue
    if (((await head.read())?.version ?? 0) !== version) return false
    throw new FatalError(
      `the audit head ends before ${found}, which is already stored: it was lost or set back. Nothing was written; run ` +
        '"platform-sync audit verify", then "platform-sync audit restore-head"',
      { code: 'damaged_state' },
    )
  }
  return true
}
