import { FatalError } from '../../../lib/core/errors.ts'
import { type Checkpoint, newCheckpoint, resetCheckpoint, type ScanSummary } from '../../../lib/sync/checkpoint.ts'
import type { Checkpoints, LeaseClaim, Waiting } from '../../../lib/sync/ports.ts'

/** The lease part of what is remembered of a stream or of the publisher. */
export type Held = { fence: number; owner: string | null; expiresAt: number }

/** Takes a lease in memory by the rules of the state table; null when it was taken. */
export function take(held: Held, claim: LeaseClaim): { heldBy: string; until: number } | null {
  if (held.owner !== null && held.expiresAt > claim.now) {
    return held.owner === claim.owner ? null : { heldBy: held.owner, until: held.expiresAt }
  }
  held.fence += 1
  held.owner = claim.owner
  held.expiresAt = claim.expiresAt
  return null
}

/** Renews or gives up a lease in memory. `same` says that what is written is already there. */
export function renew(
  held: Held,
  lease: { owner: string; fence: number; expiresAt: number; release?: boolean },
  same: boolean,
): void {
  if (held.fence === lease.fence && held.owner === lease.owner) {
    held.expiresAt = lease.expiresAt
    if (lease.release) held.owner = null
  } else if (!(lease.release && same && held.owner !== lease.owner)) {
    throw new FatalError('lost the lease', { code: 'lease_lost' })
  }
}

type Entry = Held & { checkpoint: string | null; unpublished: Map<string, string> }

function sizeOf(unpublished: ReadonlyMap<string, string>): Waiting {
  const ends = [...unpublished.values()].map((text) => (JSON.parse(text) as ScanSummary).completedAt)
  const bytes = [...unpublished].flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return { scans: ends.length, bytes, since: ends.length === 0 ? null : Math.min(...ends) }
}

/** Checkpoints in memory. Values are kept as JSON, so that a caller can't change what it has written. */
export function createMemoryCheckpoints(): Checkpoints {
  const entries = new Map<string, Entry>()
  const entryOf = (stream: string): Entry => {
    const entry = entries.get(stream) ?? {
      fence: 0,
      owner: null,
      expiresAt: 0,
      checkpoint: null,
      unpublished: new Map(),
    }
    entries.set(stream, entry)
    return entry
  }
  const load = (stream: string, { checkpoint, fence }: Entry): Checkpoint => ({
    ...(checkpoint === null ? newCheckpoint(stream) : (JSON.parse(checkpoint) as Checkpoint)),
    fence,
  })
  const save = (
    checkpoint: Checkpoint,
    lease: { owner: string; expiresAt: number; release?: boolean },
    summary?: ScanSummary,
  ) => {
    const entry = entryOf(checkpoint.stream)
    const text = JSON.stringify(checkpoint)
    renew(entry, { ...lease, fence: checkpoint.fence }, entry.checkpoint === text)
    entry.checkpoint = text
    if (summary) entry.unpublished.set(summary.scanId, JSON.stringify(summary))
  }
  const waitingOf = (stream: string) =>
    [...(entries.get(stream)?.unpublished.values() ?? [])]
      .map((text) => JSON.parse(text) as ScanSummary)
      .sort((a, b) => a.startedAt - b.startedAt || a.completedAt - b.completedAt)

  return {
    read: async (stream) => (entries.has(stream) ? load(stream, entryOf(stream)) : null),
    acquire: async (stream, claim) => {
      const entry = entryOf(stream)
      return take(entry, claim) ?? { checkpoint: load(stream, entry), waiting: sizeOf(entry.unpublished) }
    },
    save: async (checkpoint, lease) => save(checkpoint, lease),
    complete: async (checkpoint, lease, summary) => save(checkpoint, { ...lease, release: true }, summary),
    unpublished: async (stream) => waitingOf(stream),
    unpublishedOf: async (streams) => streams.flatMap(waitingOf),
    markPublished: async (stream, scanId) => {
      entries.get(stream)?.unpublished.delete(scanId)
    },
    reset: async (stream, { index, now }) => {
      const entry = entries.get(stream)
      if (!entry) return
      if (entry.owner !== null && entry.expiresAt > now) {
        throw new FatalError(`can't reset ${stream}: a worker is reading it now`, { code: 'usage' })
      }
      const checkpoint = load(stream, entry)
      entry.checkpoint = JSON.stringify(resetCheckpoint(checkpoint, { index }))
      entry.fence += 1
      entry.owner = null
    },
  }
}
