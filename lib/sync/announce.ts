import type { Attempt } from './attempt.ts'
import type { Scan } from './checkpoint.ts'

/**
 * Names a scan in the checkpoint before it writes anything: only so can a later run find the files that it leaves if it
 * dies before its first flush is done, since they lie under its own run and date. A scan that goes on is named already.
 */
export async function announceScan(attempt: Attempt): Promise<void> {
  const { checkpoint, scan, deps, lease, run } = attempt
  if (checkpoint.scan?.scanId === scan.scanId) return
  lease.signal.throwIfAborted()
  if (checkpoint.scan !== null) await clearLake(attempt, checkpoint.scan)
  const announced = { ...checkpoint, scan: structuredClone(scan), runId: run.runId }
  const expiresAt = lease.proposal()
  await deps.checkpoints.save(announced, { owner: lease.owner, expiresAt })
  lease.extend(expiresAt)
  attempt.checkpoint = announced
}

/**
 * No manifest will list a file of a scan that was given up. Its working objects stay until publish: they tell which
 * records it may have written.
 */
async function clearLake({ deps, stream, checkpoint }: Attempt, { scanId, runId, startedAt, firstFence }: Scan) {
  const fences = { first: firstFence, last: checkpoint.fence - 1 }
  const orphans = await deps.lake.removeOrphans({ stream: stream.name, scanId, runId, startedAt, fences }, stream, [])
  if (orphans > 0) deps.log.info('Removed what a scan that was given up left.', { stream: stream.name, orphans })
}
