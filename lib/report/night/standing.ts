import type { Checkpoint, StreamStatus } from '../../sync/checkpoint.ts'
import { stateOfShards } from '../../sync/shard-results.ts'

/** How a stream stands. Times are ISO 8601; the lag is the time since the last complete scan began. */
export type Standing = ReturnType<typeof standingOf>
type Known = {
  checkpoint: Checkpoint | null
  holder: { owner: string; until: number } | null
  completeAt: number | null
  now: number
}

/** Tells how a stream stands. */
export function standingOf(stream: string, { checkpoint, holder, completeAt, now }: Known) {
  const last = checkpoint?.lastScan ?? null
  return {
    stream,
    status: holder ? 'running' : checkpoint && statusOf(checkpoint),
    reason: checkpoint?.reason ?? null,
    leaseHolder: holder?.owner ?? null,
    lastScan: last ? { status: last.status, completedAt: new Date(last.completedAt).toISOString() } : null,
    records: last?.records ?? null,
    changed: last ? last.counts.inserted + last.counts.updated : null,
    deleted: last?.counts.deleted ?? null,
    quarantined: last?.counts.quarantined ?? null,
    invalid: last?.counts.invalid ?? {},
    withheldDeletes: last?.withheldDeletes ?? 0,
    scanInProgress: checkpoint?.scan?.segments.length
      ? { scanId: checkpoint.scan.scanId, received: checkpoint.scan.counts.received }
      : null,
    lagSeconds: completeAt === null ? null : Math.round((now - completeAt) / 1000),
    waitsUntil: waitOf(checkpoint, now),
  }
}

/** Until when the platform wants no request for the stream; null when it has not said so, or that time is past. */
function waitOf(checkpoint: Checkpoint | null, now: number): string | null {
  const until = checkpoint?.notBefore ?? 0
  return until > now ? new Date(until).toISOString() : null
}

/** A worker that died had no time to say how it ended: the next one goes on. */
function statusOf({ status: last, fence }: Checkpoint): StreamStatus | null {
  return last === 'running' || (last === null && fence > 0) ? 'paused' : last
}

/** Tells how a stream stands whose work is divided: sums, the oldest of times, and which shards are not complete. */
export function standingOfShards(stream: string, shards: readonly Standing[]): Standing & { shards: unknown } {
  const { status, reason } = stateOfShards(shards)
  const sum = (of: (shard: Standing) => number | null) => {
    const known = shards.map(of).filter((value) => value !== null)
    return known.length === 0 ? null : known.reduce((total, value) => total + value, 0)
  }
  const ended = shards.flatMap(({ lastScan }) => lastScan ?? [])
  const open = shards.flatMap(({ scanInProgress }) => scanInProgress ?? [])
  const lags = shards.map(({ lagSeconds }) => lagSeconds)
  const invalid: Record<string, number> = {}
  for (const shard of shards)
    for (const [field, count] of Object.entries(shard.invalid)) invalid[field] = (invalid[field] ?? 0) + count
  return {
    stream,
    status,
    reason,
    leaseHolder: shards.find(({ leaseHolder }) => leaseHolder !== null)?.leaseHolder ?? null,
    lastScan: ended.sort((a, b) => (a.completedAt < b.completedAt ? 1 : -1))[0] ?? null,
    records: sum(({ records }) => records),
    changed: sum(({ changed }) => changed),
    deleted: sum(({ deleted }) => deleted),
    quarantined: sum(({ quarantined }) => quarantined),
    invalid,
    withheldDeletes: sum(({ withheldDeletes }) => withheldDeletes) ?? 0,
    scanInProgress: open[0]
      ? { ...open[0], received: open.reduce((total, { received }) => total + received, 0) }
      : null,
    lagSeconds: lags.includes(null) ? null : Math.max(...lags.map(Number)),
    waitsUntil:
      shards
        .flatMap(({ waitsUntil }) => waitsUntil ?? [])
        .sort()
        .at(-1) ?? null,
    shards: {
      all: shards.length,
      incomplete: shards.filter((shard) => shard.status !== 'complete').map((shard) => shard.stream),
    },
  }
}
