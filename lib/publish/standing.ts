import { mapConcurrently } from '../core/concurrency.ts'
import { withoutShard } from '../streams/shards.ts'
import type { Stream } from '../streams/stream.ts'
import { wholeScanAt } from '../sync/freshness.ts'
import type { Checkpoints } from '../sync/ports.ts'
import type { Standing } from './manifest.ts'

const readsAtOnce = 16

/**
 * How a stream stands by its checkpoints. One that is read in shards is as fresh as the stalest of them, and never was
 * whole as long as one of them was not.
 */
export async function standingOf(
  name: string,
  { streams, checkpoints }: { streams: readonly Stream[]; checkpoints: Pick<Checkpoints, 'read'> },
): Promise<Standing> {
  const units = streams.filter((stream) => withoutShard(stream.name) === withoutShard(name))
  const found = await mapConcurrently(units, readsAtOnce, (unit) => checkpoints.read(unit.name))
  const complete = found.map((checkpoint) => checkpoint && wholeScanAt(checkpoint))
  const scans = found.flatMap((checkpoint) => checkpoint?.lastScan ?? [])
  const wholes = complete.filter((time) => time !== null)
  return {
    completeAt: wholes.length > 0 && wholes.length === complete.length ? Math.min(...wholes) : null,
    scanEndedAt: scans.length > 0 ? Math.max(...scans.map(({ completedAt }) => completedAt)) : null,
    records: scans.length > 0 ? scans.reduce((sum, { records }) => sum + records, 0) : null,
  }
}
