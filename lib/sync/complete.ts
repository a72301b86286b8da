import { FatalError } from '../core/errors.ts'
import { parentPart } from '../streams/keys.ts'
import type { Checkpoint, Counts, ScanSummary } from './checkpoint.ts'
import type { StreamResult } from './context.ts'
import { countsOfRun } from './counts-of-run.ts'
import { countsOf, scanPath } from './flusher.ts'
import { indexChunks } from './index-format.ts'
import { type IndexEntry, Kind } from './key-table.ts'
import { type Read, rulesOf } from './modes.ts'
import { observeScan } from './observe.ts'
import { type Attempt, progressOf } from './open-scan.ts'
import { nothingRead } from './parent-scan.ts'
import { type Missing, suspicionOf } from './suspicion.ts'

/**
 * Ends a scan that has read its list to the end: checks that every record received is accounted for, finds what is
 * gone, writes the new index, and hands the scan to publish. Safe to repeat from any point.
 */
export async function completeScan(attempt: Attempt): Promise<StreamResult> {
  const { stream, run } = attempt.context
  checkConservation(stream.name, attempt.intake.state.counts)
  const missing = missingEntries(attempt)
  const reason = attempt.context.scan.approval ? null : reasonToWithhold(attempt, missing)
  if (reason === null) await deleteRecords(attempt, missing)
  const { notices, acknowledge } = await observeScan(attempt, { withheld: reason })
  const index = await writeIndex(attempt, { withheld: reason !== null })
  const withheldDeletes = reason === null ? 0 : missing.length
  const summary = await summarize(attempt, { reason, index, withheldDeletes })
  await attempt.flusher.complete({ summary, index, notices, readWith: readWith(attempt, summary) })
  await acknowledge()
  const { status, counts, ofRun } = summary
  return { stream: stream.name, runId: run.runId, status, reason, retryAfterMs: null, counts, ofRun, notices }
}

/**
 * Ends an attempt at lists per parent of which none is to be read and nothing is gone, without a scan: null when there is
 * something to read, to delete or to write down.
 */
export async function settleQuiet(attempt: Attempt): Promise<StreamResult | null> {
  const { context, plan, known, flusher } = attempt
  const isOpen = flusher.checkpoint.scan !== null || known.indexLost
  if (!plan || plan.planned.length > 0 || isOpen || !saysTheSame(attempt)) return null
  if (missingEntries(attempt).length > 0) return null
  await flusher.settle(plan.indexKey)
  return nothingRead(context.stream.name, context.run)
}

/** What came in is what was counted. A mismatch is a bug, and such a scan must not complete. */
function checkConservation(stream: string, counts: Counts): void {
  const accounted = counts.inserted + counts.updated + counts.unchanged + counts.duplicate + counts.quarantined
  if (counts.received === accounted) return
  throw new FatalError(
    `${stream}: ${counts.received} records were received and ${accounted} are accounted for. ` +
      'The scan is not completed; please report this as a bug.',
    { code: 'conservation_broken' },
  )
}

/** The parents after which nothing is left to read; null when something is. */
function readWith({ plan, reader }: Attempt, { status }: ScanSummary): string | null {
  const unread = reader.state.parents?.unread.count ?? 0
  return plan && status === 'complete' && unread === 0 ? plan.indexKey : null
}

function readBy({ plan, reader, intake }: Attempt): Read {
  const parents = plan && { isListed: plan.isListed, passOf: intake.passOf }
  return { pass: reader.state.pass, parents }
}

type MissingEntry = Pick<IndexEntry, 'key' | 'kind'> & { isOrphaned: boolean }

/** What the pass that read the list did not see. An approval reads none: of what is known only the missing are gone. */
function missingEntries(attempt: Attempt): MissingEntry[] {
  const { stream, scan } = attempt.context
  const { whyGone } = rulesOf(stream)
  const read = readBy(attempt)
  const missing: MissingEntry[] = []
  for (const entry of attempt.intake.entries()) {
    const why = whyGone(entry, read)
    if (why === null || (scan.approval && entry.kind !== Kind.missing)) continue
    missing.push({ key: entry.key, kind: entry.kind, isOrphaned: why === 'orphaned' })
  }
  return missing
}

/** Why the deletes can't be trusted; null when they can. What went with its parent was judged with the parent. */
function reasonToWithhold({ known, intake, context: { stream } }: Attempt, entries: readonly MissingEntry[]) {
  const { counts, unkeyed } = intake.state
  const unseen = entries.filter(({ isOrphaned }) => !isOrphaned)
  const found = unseen.filter(({ kind }) => kind === Kind.inserted).length
  const missing: Missing = {
    known: unseen.length - found,
    ofKnown: known.records,
    found,
    ofFound: counts.inserted,
  }
  return suspicionOf({ stream, counts, unkeyed, missing })
}

/** Writes tombstones, flush by flush, like everything else that a scan writes. */
async function deleteRecords(attempt: Attempt, missing: readonly MissingEntry[]): Promise<void> {
  const { context, reader, intake, flusher } = attempt
  const size = context.deps.settings.flushRecords
  for (let start = 0; start < missing.length; start += size) {
    const some = missing.slice(start, start + size)
    const orphans = some.filter(({ isOrphaned }) => isOrphaned)
    const parents = new Set(orphans.map(({ key }) => parentPart(key)))
    const batch = intake.remove({ keys: some.map(({ key }) => key), parents }, reader.state.pass)
    await flusher.write(batch, { ...progressOf(attempt), tokens: reader.takeTokens() })
  }
  await flusher.written()
}

type Index = NonNullable<Checkpoint['index']>
type Outcome = { reason: string | null; withheldDeletes: number; index: Index }

async function summarize(attempt: Attempt, { reason, withheldDeletes, index }: Outcome): Promise<ScanSummary> {
  const { context, flusher } = attempt
  const { scan, deps, stream, lease } = context
  const { lastScan, index: before } = flusher.checkpoint
  const counts = countsOf(progressOf(attempt))
  return {
    stream: stream.name,
    scanId: scan.scanId,
    runId: scan.runId,
    startedAt: scan.startedAt,
    completedAt: deps.clock.now(),
    status: reason === null ? 'complete' : 'suspect',
    reason,
    withheldDeletes,
    counts,
    ofRun: countsOfRun(counts, context),
    records: rulesOf(stream).records({ counts, lastScan, kept: index.entries }),
    filesKey: await deps.index.writeFiles(scanPath(context), [...flusher.files], lease.signal),
    indexKey: index.key,
    replacedIndexKey: before === null || before.key === index.key ? null : before.key,
    fences: { first: scan.firstFence, last: context.fence },
  }
}

/** The index of what is known from here on. An index that would say the same is not written again. */
async function writeIndex(attempt: Attempt, { withheld }: { withheld: boolean }): Promise<Index> {
  const { context, known, intake, flusher } = attempt
  const { index } = flusher.checkpoint
  if (index !== null && !known.indexLost && !withheld && saysTheSame(attempt)) return index
  const { keeps, whyGone } = rulesOf(context.stream)
  const read = readBy(attempt)
  const kindOf = (entry: IndexEntry) =>
    entry.kind === Kind.mark ? Kind.mark : withheld && whyGone(entry, read) !== null ? Kind.missing : Kind.known
  const each = function* (): Iterable<IndexEntry> {
    for (const entry of intake.entries()) if (keeps(entry, context, read)) yield indexed(entry, kindOf(entry))
  }
  let [entries, marks] = [0, 0]
  for (const entry of intake.entries()) {
    if (!keeps(entry, context, read)) continue
    if (entry.kind === Kind.mark) marks += 1
    else entries += 1
  }
  const { deps, lease } = context
  const key = deps.index.indexKey(scanPath(context))
  await deps.index.writeIndex(
    key,
    indexChunks({ pass: 0, tokens: [], files: [] }, { count: entries + marks, each }),
    lease.signal,
  )
  return { key, entries }
}

/** An entry as the index holds it. By name, since what it is made of are getters: a spread of those takes four times as long. */
function indexed({ key, hash, bytes, changedAt, isOdd }: IndexEntry, kind: Kind): IndexEntry {
  return { key, hash, bytes, changedAt, isOdd, kind, pass: 0 }
}

function saysTheSame(attempt: Attempt): boolean {
  const { known, intake } = attempt
  const { inserted, updated, deleted } = intake.state.counts
  const isWritten = inserted + updated + deleted > 0
  const hasRenewed = known.hadRenewed || intake.hasRenewed
  return !known.hadMissing && !known.hadUncertain && !isWritten && !hasRenewed && !movedMarks(attempt)
}

/** Whether the index would remember other parents, or other states of them. */
function movedMarks({ plan, intake }: Attempt): boolean {
  if (!plan) return false
  if (plan.refreshed > 0) return true
  for (const { key, kind, pass } of intake.entries()) {
    if (kind === Kind.mark && (pass > 0 || !plan.isListed(key))) return true
  }
  return false
}
