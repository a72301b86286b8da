import { FatalError } from '../core/errors.ts'
import type { Attempt, StreamResult } from './attempt.ts'
import type { Checkpoint, Counts, ScanSummary } from './checkpoint.ts'
import { partPath, partsOf, startFlush } from './flush.ts'
import { encodeIndex } from './index-format.ts'
import { type Entry, Kind } from './key-table.ts'
import { observeScan } from './observe.ts'

const deletesAlwaysAllowed = 10
const deletesAllowedShare = 0.2

/**
 * Ends a scan that has read its list to the end: checks that every record received is accounted for, finds what is
 * gone, writes the new index, and hands the scan to publish. Safe to repeat from any point.
 */
export async function completeScan(attempt: Attempt): Promise<StreamResult> {
  checkConservation(attempt)
  const missing = missingKeys(attempt)
  const reason = attempt.scan.approval ? null : reasonToWithhold(attempt, missing.length)
  if (reason === null) await deleteRecords(attempt, missing)
  const { remarks, settle } = await observeScan(attempt)
  const index = await writeIndex(attempt, { withheld: reason !== null })
  const summary = await summarize(attempt, { reason, index, withheldDeletes: reason === null ? 0 : missing.length })

  const checkpoint: Checkpoint = {
    ...attempt.checkpoint,
    status: summary.status,
    reason,
    statusAt: summary.completedAt,
    runId: attempt.run.runId,
    scan: null,
    scansCompleted: attempt.checkpoint.scansCompleted + 1,
    lastScan: summary,
    index,
    remarks,
  }
  const { lease, deps, stream, run } = attempt
  await deps.checkpoints.complete(checkpoint, { owner: lease.owner, expiresAt: lease.expiresAt }, summary)
  await settle()
  const { status, counts } = summary
  return { stream: stream.name, runId: run.runId, status, reason, retryAfterMs: null, counts, remarks }
}

/** Promise 2: what came in is what was counted. A mismatch is a bug, and such a scan must not complete. */
function checkConservation({ scan: { counts }, stream }: Attempt) {
  const accounted = counts.inserted + counts.updated + counts.unchanged + counts.duplicate + counts.quarantined
  if (counts.received === accounted) return
  throw new FatalError(
    `${stream.name}: ${counts.received} records were received and ${accounted} are accounted for. ` +
      'The scan is not completed; please report this as a bug.',
    { code: 'conservation_broken' },
  )
}

/** What no pass of the scan saw. An approval sees no record: of what it did not see, only the missing are gone. */
function missingKeys({ table, scan: { approval } }: Attempt): string[] {
  const keys: string[] = []
  for (let at = 0; at < table.size; at++) {
    if (table.pass(at) === 0 && (!approval || table.kind(at) === Kind.missing)) keys.push(table.key(at))
  }
  return keys
}

/** Why the deletes can't be trusted; null when they can. */
function reasonToWithhold({ known, scan, stream }: Attempt, missing: number): string | null {
  const next = `nothing was deleted; if it is right, run "platform-sync approve ${stream.name}"`
  if (missing > deletesAlwaysAllowed && missing > known * deletesAllowedShare) {
    return `${missing} of ${known} known records are missing from the list, more than ${deletesAllowedShare * 100} %: ${next}`
  }
  if (missing > 0 && scan.unkeyed > 0) {
    return `${missing} known records are missing, but ${scan.unkeyed} records came without a readable ${stream.primaryKey} and may be among them: ${next}`
  }
  return null
}

/** Writes tombstones, flush by flush, like everything else that a scan writes. */
async function deleteRecords(attempt: Attempt, missing: string[]) {
  const { table, scan, deps } = attempt
  const size = deps.settings.flushRecords
  for (let start = 0; start < missing.length; start += size) {
    const keys = missing.slice(start, start + size)
    for (const key of keys) {
      const at = table.find(key)
      table.mark(at, Kind.deleted, scan.pass)
      attempt.buffer.seen.push(at)
    }
    attempt.buffer.deletes = keys
    scan.counts.deleted += keys.length
    await startFlush(attempt)
  }
  await attempt.flushing
}

type Outcome = { reason: string | null; withheldDeletes: number; index: Index }
type Index = NonNullable<Checkpoint['index']>

async function summarize(attempt: Attempt, { reason, withheldDeletes, index }: Outcome): Promise<ScanSummary> {
  const { scan, deps, stream, lease, files, checkpoint } = attempt
  const indexBefore = checkpoint.index?.key ?? null
  const { part: _, ...path } = partPath(attempt, partsOf(scan))
  return {
    stream: stream.name,
    scanId: scan.scanId,
    runId: scan.runId,
    startedAt: scan.startedAt,
    completedAt: deps.clock.now(),
    status: reason === null ? 'complete' : 'suspect',
    reason,
    withheldDeletes,
    counts: scan.counts,
    records: index.entries,
    filesKey: await deps.index.writeFiles(path, files, lease.signal),
    indexKey: index.key,
    replacedIndexKey: indexBefore === index.key ? null : indexBefore,
    fences: { first: scan.firstFence, last: checkpoint.fence },
  }
}

function liveRecords({ table }: Attempt): number {
  let live = 0
  for (let at = 0; at < table.size; at++) if (table.kind(at) !== Kind.deleted) live += 1
  return live
}

/** The index of what is live now. An index that would say the same is not written again. */
async function writeIndex(attempt: Attempt, { withheld }: { withheld: boolean }): Promise<Index> {
  const { table, scan, deps, lease, checkpoint } = attempt
  if (checkpoint.index !== null && !attempt.indexLost && !withheld && saysTheSame(attempt)) return checkpoint.index
  const each = function* (): Iterable<Entry> {
    for (let at = 0; at < table.size; at++) {
      const entry = table.entry(at)
      if (entry.kind === Kind.deleted) continue
      yield { ...entry, kind: withheld && entry.pass === 0 ? Kind.missing : Kind.known, pass: 0 }
    }
  }
  const { part: _, ...path } = partPath(attempt, partsOf(scan))
  const key = deps.index.indexKey(path)
  const records = liveRecords(attempt)
  const bytes = encodeIndex({ pass: 0, tokens: [], files: [] }, { count: records, each })
  await deps.index.writeIndex(key, bytes, lease.signal)
  return { key, entries: records }
}

function saysTheSame({ scan: { counts }, hadMissing, hadDoubts }: Attempt) {
  return !hadMissing && !hadDoubts && unchangedBy(counts)
}

function unchangedBy({ inserted, updated, deleted }: Counts) {
  return inserted + updated + deleted === 0
}
