import { messageOf } from '../core/errors.ts'
import type { Stream } from '../streams/stream.ts'
import type { Run } from '../sync/context.ts'
import { type Lease, watchLease } from '../sync/lease.ts'
import { type FinishingDeps, finishPublication } from './finish.ts'
import type { Manifest, PublishState } from './manifest.ts'
import type { Publications } from './ports.ts'

/** What publishing needs from the world. */
export type PublishDeps = FinishingDeps & {
  publications: Publications
  newOwner: () => string
  leaseMs: number
}

/** What a publication came to: the manifest of the run, or who publishes already. */
export type PublishResult = { manifest: Manifest } | { heldBy: string; until: number }

type Publishing = { deps: PublishDeps; streams: readonly Stream[]; lease: Lease; state: PublishState }

/**
 * Makes the scans that ended visible, in one step: the manifest of the run. Which scans go into it is written down
 * first, so that a publisher that died is finished by the next one, whatever its streams were, and no file is ever in
 * two manifests. Scans that changed nothing are in none. `streams` are those whose scans are collected.
 */
export async function publishRun(run: Run, streams: readonly Stream[], deps: PublishDeps): Promise<PublishResult> {
  const owner = deps.newOwner()
  const now = deps.clock.now()
  const acquired = await deps.publications.acquire({ owner, now, expiresAt: now + deps.leaseMs })
  if ('heldBy' in acquired) return acquired
  const lease = watchLease(deps.clock, { owner, expiresAt: now + deps.leaseMs, ttlMs: deps.leaseMs })
  const publishing: Publishing = { deps, streams, lease, state: acquired.state }
  try {
    const manifest = await publish(publishing, run)
    await save(publishing, null, true)
    return { manifest }
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

async function publish(publishing: Publishing, { runId }: Run): Promise<Manifest> {
  const { deps, streams, state } = publishing
  if (state.pending) await finish(publishing, state.pending)
  for (;;) {
    const scans = await deps.checkpoints.unpublishedOf(streams.map(({ name }) => name))
    const pending = { runId, scans: scans.slice(0, scansAtOnce), merged: {} }
    await save(publishing, pending)
    const manifest = await finish(publishing, pending)
    if (scans.length <= scansAtOnce) return manifest
  }
}

/** What is about to be published is written down in one item, which holds so many scans. */
const scansAtOnce = 120

function finish(publishing: Publishing, pending: NonNullable<PublishState['pending']>): Promise<Manifest> {
  const { deps, lease } = publishing
  const note = (next: typeof pending) => {
    publishing.state = { ...publishing.state, pending: next }
  }
  const isHalfOver = () => lease.expiresAt - deps.clock.now() < deps.leaseMs / 2
  const stillMine = async () => {
    if (isHalfOver()) await save(publishing, publishing.state.pending)
  }
  return finishPublication(pending, { ...deps, lease, note, stillMine })
}

async function save(publishing: Publishing, pending: PublishState['pending'], release = false): Promise<void> {
  const { deps, lease } = publishing
  publishing.state = { ...publishing.state, pending }
  const expiresAt = lease.proposal()
  await deps.publications.save(publishing.state, { owner: lease.owner, expiresAt, release })
  lease.extend(expiresAt)
}
