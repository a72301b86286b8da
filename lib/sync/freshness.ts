import type { Stream } from '../streams/stream.ts'
import type { Checkpoint } from './checkpoint.ts'

/** The checkpoint of a stream or shard by its name; null where there is none. */
export type CheckpointOf = (name: string) => Checkpoint | null

/**
 * When what is kept of a stream, or of a shard, was last known to be whole, Unix ms; null when it never was. What has a list
 * of its own is as fresh as its last whole scan. Lists per parent are as fresh as the parents, unless some are to be read yet.
 */
export function freshnessOf({ name, parent }: Pick<Stream, 'name' | 'parent'>, checkpointOf: CheckpointOf) {
  const checkpoint = checkpointOf(name)
  if (!checkpoint || !parent) return checkpoint && wholeScanAt(checkpoint)
  const parents = checkpointOf(parent.stream.name)
  const { readWith, lastScan } = checkpoint
  if (parents && readWith && readWith === parents.index?.key) return wholeScanAt(parents)
  return lastScan?.status === 'complete' ? lastScan.startedAt : null
}

/**
 * When the last scan of a stream began that was complete and read its list, Unix ms; null when there was none. A suspect
 * one withheld what it found gone, and an approval of deletes read no list.
 */
export function wholeScanAt({ completeAt, lastScan }: Checkpoint): number | null {
  if (completeAt !== undefined) return completeAt
  // Of a checkpoint that an older version wrote, its last scan alone can say.
  return lastScan?.status === 'complete' && lastScan.counts.pages > 0 ? lastScan.startedAt : null
}
