import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { InboxListing, WaitingFile } from '../ports.ts'

/** The time after which a file in the inbox is one that nobody takes up: an import with all that is tried again is over by then. */
export const waitingMs = 60 * 60 * 1000

/** Lists the files of the inbox that wait for longer than any import takes, oldest first. */
export async function filesLeftWaiting({
  listing,
  clock,
}: {
  listing: InboxListing
  clock: Clock
}): Promise<WaitingFile[]> {
  const now = clock.now()
  const files = await listing.waiting()
  return files.filter(({ droppedAt }) => now - droppedAt > waitingMs).toSorted((a, b) => a.droppedAt - b.droppedAt)
}

/** Measures how many files nobody takes up. None is a measurement, too: silence means that nobody looks. */
export async function reportWaiting(deps: {
  listing: InboxListing
  clock: Clock
  metrics: Metrics
  log: Log
}): Promise<void> {
  const files = await filesLeftWaiting(deps)
  deps.metrics.count('InboxFilesWaiting', files.length)
  const [oldest] = files
  if (!oldest) return
  const since = new Date(oldest.droppedAt).toISOString()
  deps.log.warn('Files lie in the inbox that nobody takes up. Drop them again.', {
    ...{ files: files.length, oldest: oldest.key, since },
  })
}
