import { FatalError } from '../core/errors.ts'
import type { Stream } from '../streams/stream.ts'
import { completeScan } from './complete.ts'
import type { Run, StreamResult, SyncDeps } from './context.ts'
import { openApproval, progressOf } from './open-scan.ts'

/**
 * Accepts the deletes that suspect scans withheld: tombstones every record that was known and is still missing, as a
 * scan of its own without pages. What came back meanwhile is not touched. Publish makes it visible.
 * @throws FatalError `approval_not_possible` when nothing was withheld, or a scan is in progress.
 */
export async function approveDeletes(stream: Stream, run: Run, deps: SyncDeps): Promise<StreamResult> {
  const opened = await openApproval(stream, run, deps)
  if ('result' in opened) return opened.result
  const { attempt } = opened
  const { context, known, flusher } = attempt
  try {
    // An approval that died goes on, here or in the next sync.
    if (flusher.hasParts && !context.scan.approval) throw notPossible(stream, 'a scan is in progress: run sync first')
    if (!known.hadMissing) throw notPossible(stream, 'no deletes are withheld')
    flusher.announce(progressOf(attempt))
    await flusher.written()
    return await completeScan(attempt)
  } catch (error) {
    await flusher.release()
    throw error
  } finally {
    context.lease.stop()
  }
}

function notPossible(stream: Stream, why: string) {
  return new FatalError(`${stream.name}: there is nothing to approve, ${why}.`, { code: 'approval_not_possible' })
}
