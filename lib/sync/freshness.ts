import type { Checkpoint } from './checkpoint.ts'

/**
 * When the last scan of a stream began that was complete and read its list, Unix ms; null when there was none. A suspect
 * one withheld what it found gone, and an approval of deletes read no list.
 */
export function wholeScanAt({ completeAt, lastScan }: Checkpoint): number | null {
  if (completeAt !== undefined) return completeAt
  // Of a checkpoint that an older version wrote, its last scan alone can say.
  return lastScan?.status === 'complete' && lastScan.counts.pages > 0 ? lastScan.startedAt : null
}
