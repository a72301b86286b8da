import { FatalError } from '../core/errors.ts'
import type { Stream } from '../streams/stream.ts'
import { announceScan } from './announce.ts'
import type { Run, StreamResult, SyncDeps } from './attempt.ts'
import { completeScan } from './complete.ts'
import { openAttempt } from './open-scan.ts'

/**
 * Accepts the deletes that suspect scans withheld: tombstones every record that was known and is still missing, as a
 * scan of its own without pages. What came back meanwhile is not touched. Publish makes it visible.
 * @throws FatalError `approval_not_possible` when nothing was withheld, or a scan is in progress.
 */
export async function approveDeletes(stream: Stream, run: Run, deps: SyncDeps): Promise<StreamResult> {
  const opened = await openAttempt(stream, run, deps)
  if ('busy' in opened) return opened.busy
  const { attempt } = opened
  try {
    const { scan, hadMissing } = attempt
    // An approval that died goes on, here or in the next sync.
    if (scan.segments.length > 0 && !scan.approval) throw notPossible(stream, 'a scan is in progress: run sync first')
    if (!hadMissing) throw notPossible(stream, 'no deletes are withheld')
    scan.approval = true
    scan.position = { at: 'end' }
    await announceScan(attempt)
    return await completeScan(attempt)
  } catch (error) {
    const { owner, expiresAt } = attempt.lease
    await deps.checkpoints.save(attempt.checkpoint, { owner, expiresAt, release: true })
    throw error
  } finally {
    attempt.lease.stop()
  }
}

function notPossible(stream: Stream, why: string) {
  return new FatalError(`${stream.name}: there is nothing to approve, ${why}.`, { code: 'approval_not_possible' })
}
