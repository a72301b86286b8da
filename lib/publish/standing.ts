import { mapConcurrently } from '../core/concurrency.ts'
import type { Stream } from '../streams/stream.ts'
import { type CheckpointOf, freshnessOf } from '../sync/freshness.ts'
import type { Checkpoints } from '../sync/ports.ts'
import type { Standing } from './manifest.ts'

const readsAtOnce = 16

/** Reads the checkpoints of a stream, or of its shards, and what else says how it stands: that of the parents of its lists. */
export async function readCheckpoints(
  units: readonly Stream[],
  { checkpoints }: { checkpoints: Pick<Checkpoints, 'read'> },
): Promise<CheckpointOf> {
  const names = new Set(units.flatMap(({ name, parent }) => (parent ? [name, parent.stream.name] : [name])))
  const read = async (name: string) => [name, await checkpoints.read(name)] as const
  const found = new Map(await mapConcurrently([...names], readsAtOnce, read))
  return (name) => found.get(name) ?? null
}

/**
 * How a stream stands by its checkpoints. One that is read in shards is as fresh as the stalest of them, and never was
 * whole as long as one of them was not.
 */
export function standingOf(units: readonly Stream[], checkpointOf: CheckpointOf): Standing {
  const times = units.map((unit) => freshnessOf(unit, checkpointOf))
  const wholes = times.filter((time) => time !== null)
  const scans = units.flatMap(({ name }) => checkpointOf(name)?.lastScan ?? [])
  return {
    completeAt: wholes.length > 0 && wholes.length === times.length ? Math.min(...wholes) : null,
    scanEndedAt: scans.length > 0 ? Math.max(...scans.map(({ completedAt }) => completedAt)) : null,
    records: scans.length > 0 ? scans.reduce((sum, { records }) => sum + records, 0) : null,
  }
}
