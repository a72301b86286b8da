import { type Deadline, earlier } from '../core/deadline.ts'
import { messageOf } from '../core/errors.ts'
import type { Stream } from '../streams/stream.ts'
import type { Run } from '../sync/context.ts'
import { type Lease, watchLease } from '../sync/lease.ts'
import { mayComeFurther, type TableBehind, tablesIn } from './behind.ts'
import { type FinishingDeps, finishPublication, type Publication } from './finish.ts'
import type { BehindTable, Manifest, PublishState } from './manifest.ts'
import type { MadeNow, Publications } from './ports.ts'

/** What publishing needs from the world. */
export type PublishDeps = FinishingDeps & {
  publications: Publications
  newOwner: () => string
  leaseMs: number
  /** How long this attempt may work. */
  deadline: Deadline
}

/**
 * What a publication came to: the manifest of the run, the tables of its streams that lack something of it and whether
 * another attempt may bring them further; or who publishes already.
 */
export type PublishResult =
  | { manifest: Manifest; behind: TableBehind[]; goOn: boolean }
  | { heldBy: string; until: number }

/** What is kept of an attempt's time for what comes after it: a file that is ended, the record of the run and its event. */
export const marginMs = 120_000

type Publishing = { deps: PublishDeps; streams: readonly Stream[]; lease: Lease; state: PublishState }

/**
 * Makes the scans that ended visible, in one step: the manifest of the run. Which scans go into it is written down
 * first, so that a publisher that died is finished by the next one, whatever its streams were, and no file is ever in
 * two manifests. Scans that changed nothing are in none. `streams` are those whose scans are collected.
 * Then the tables follow, as far as the time allows: those of these streams, and of what was published.
 */
export async function publishRun(run: Run, streams: readonly Stream[], deps: PublishDeps): Promise<PublishResult> {
  const owner = deps.newOwner()
  const now = deps.clock.now()
  const acquired = await deps.publications.acquire({ owner, now, expiresAt: now + deps.leaseMs })
  if ('heldBy' in acquired) return acquired
  const lease = watchLease(deps.clock, { owner, expiresAt: now + deps.leaseMs, ttlMs: deps.leaseMs })
  const publishing: Publishing = { deps, streams, lease, state: acquired.state }
  const before = new Set(Object.keys(acquired.state.behind))
  try {
    const { manifest, made } = await publish(publishing, run)
    const moves = await follow(publishing, { made, before })
    const behind = tablesIn(publishing.state.behind, deps.tables.namesOf(namesOf(streams)))
    await save(publishing, null, true)
    return { manifest, behind, goOn: mayComeFurther(behind, moves) }
  } catch (error) {
    await save(publishing, publishing.state.pending, true).catch((saveError: unknown) => {
      deps.log.warn('The publisher could not give up its lease; it runs out by itself.', {
        reason: messageOf(saveError),
      })
    })
    throw error
  } finally {
    lease.stop()
  }
}

function namesOf(streams: readonly Stream[]): string[] {
  return streams.map(({ name }) => name)
}

async function publish(publishing: Publishing, { runId }: Run): Promise<{ manifest: Manifest; made: MadeNow[] }> {
  const { deps, streams, state } = publishing
  const made: MadeNow[] = []
  if (state.pending) made.push((await finish(publishing, state.pending)).published)
  for (;;) {
    const scans = await deps.checkpoints.unpublishedOf(namesOf(streams))
    const pending = { runId, scans: scans.slice(0, scansAtOnce), merged: {} }
    await save(publishing, pending)
    const { manifest, published } = await finish(publishing, pending)
    made.push(published)
    if (scans.length <= scansAtOnce) return { manifest, made }
  }
}

/** What is about to be published is written down in one item, which holds so many scans. */
const scansAtOnce = 120

async function finish(publishing: Publishing, pending: NonNullable<PublishState['pending']>): Promise<Publication> {
  const { deps, lease, state } = publishing
  const publication = await finishPublication(pending, {
    ...deps,
    ...{ lease, behind: behindOf(publishing), deadline: earlier(deps.deadline, marginMs) },
    publishedBefore: state.publishedAt,
    note: (next) => {
      publishing.state = { ...publishing.state, pending: next }
    },
    stillMine: () => stillMine(publishing),
  })
  const { publishedAt } = publication.manifest
  if (publishedAt > publishing.state.publishedAt) publishing.state = { ...publishing.state, publishedAt }
  return publication
}

/**
 * Brings tables up to date. What is published is published by then, and that they are behind is written down: whatever
 * befalls a table, or this process in it, holds nothing else.
 */
async function follow(publishing: Publishing, { made, before }: { made: readonly MadeNow[]; before: Set<string> }) {
  const { deps, streams, lease, state } = publishing
  const own = new Set(deps.tables.namesOf(namesOf(streams)))
  const all = Object.keys(state.behind)
  const noted = new Set(all.filter((name) => !before.has(name)))
  const names = new Set(all.filter((name) => own.has(name) || noted.has(name)))
  if (names.size === 0) return false
  await save(publishing, null)
  return deps.tables.follow({
    ...{ names, made: { names: noted, publications: made }, behind: behindOf(publishing) },
    deadline: earlier(deps.deadline, marginMs),
    signal: lease.signal,
    stillMine: () => stillMine(publishing),
  })
}

function behindOf(publishing: Publishing) {
  return {
    of: (name: string) => publishing.state.behind[name],
    note: (name: string, stands: BehindTable | null) => {
      const { [name]: _, ...others } = publishing.state.behind
      publishing.state = { ...publishing.state, behind: stands ? { ...others, [name]: stands } : others }
    },
    save: () => save(publishing, publishing.state.pending),
  }
}

/** Renews the lease where it is half over. */
async function stillMine(publishing: Publishing): Promise<void> {
  const { deps, lease, state } = publishing
  if (lease.expiresAt - deps.clock.now() < deps.leaseMs / 2) await save(publishing, state.pending)
}

async function save(publishing: Publishing, pending: PublishState['pending'], release = false): Promise<void> {
  const { deps, lease } = publishing
  publishing.state = { ...publishing.state, pending }
  const expiresAt = lease.proposal()
  await deps.publications.save(publishing.state, { owner: lease.owner, expiresAt, release })
  lease.extend(expiresAt)
}
