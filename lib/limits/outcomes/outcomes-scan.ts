import type { Clock } from '../../core/clock.ts'
import { contentHash } from '../../core/hash.ts'
import type { OtherScan } from '../../publish/finish-run.ts'
import { creditLimitOutcomes, type OutcomeRecord } from '../../streams/credit-limit-outcomes.ts'
import { type Cell, columnsOf } from '../../streams/table.ts'
import type { PartFile } from '../../sync/checkpoint.ts'
import { type Checkpoint, Counts, type ScanSummary } from '../../sync/checkpoint.ts'
import type { Run } from '../../sync/context.ts'
import { type Lease, watchLease } from '../../sync/lease.ts'
import type { Checkpoints, IndexStore, Lake, PartPath } from '../../sync/ports.ts'
import type { LedgerReader } from '../ports.ts'
import { outcomeRecord } from './outcome.ts'

/** What bringing outcomes to the lake needs. */
export type OutcomesScanDeps = {
  reader: Pick<LedgerReader, 'outcomesBetween'>
  checkpoints: Checkpoints
  lake: Lake
  index: IndexStore
  clock: Clock
  newOwner: () => string
  leaseMs: number
  /** Rows per file. */
  rowsPerPart?: number
}

/** No outcome is older than the ledger. */
const beginning = Date.UTC(2026, 0, 1)
/** An outcome is written a while after the time it names, at most as long as a worker may live. */
const overlapMs = 16 * 60_000

/**
 * Brings the outcomes recorded since the last time to the lake, as a scan that waits for publish: call it before
 * `publishRun`, which must know `creditLimitOutcomes`. Rows of the last minutes before may come twice; the newer one
 * counts, as in every change log. Answers how many rows were written, or who is at it already.
 */
export async function scanOutcomes(
  { runId }: Pick<Run, 'runId'>,
  deps: OutcomesScanDeps,
): Promise<{ rows: number } | { heldBy: string; until: number }> {
  const owner = deps.newOwner()
  const now = deps.clock.now()
  const terms = { owner, expiresAt: now + deps.leaseMs, ttlMs: deps.leaseMs }
  const acquired = await deps.checkpoints.acquire(creditLimitOutcomes.name, { ...terms, now })
  if ('heldBy' in acquired) return acquired
  const { checkpoint } = acquired
  const lease = watchLease(deps.clock, terms)
  try {
    const path = pathOf(checkpoint, { runId, startedAt: now })
    const { files, rows } = await writeOutcomes(path, { checkpoint, lease, deps })
    if (rows === 0) await deps.checkpoints.save(checkpoint, { ...terms, expiresAt: lease.expiresAt, release: true })
    else await complete(path, { checkpoint, lease, deps, files, rows })
    return { rows }
  } catch (error) {
    // The next run takes all of it anew; a lease that can't be given up runs out by itself.
    await deps.checkpoints.save(checkpoint, { ...terms, release: true }).catch(() => {})
    throw error
  } finally {
    lease.stop()
  }
}

/** The outcomes as a run takes them along. When somebody is at it already, the next run has what they leave. */
export function outcomesSource(deps: OutcomesScanDeps): OtherScan {
  return {
    stream: creditLimitOutcomes,
    scan: async (run) => void (await scanOutcomes(run, deps)),
  }
}

type Scanning = { checkpoint: Checkpoint; lease: Lease; deps: OutcomesScanDeps }
type Path = Omit<PartPath, 'part'>

function pathOf(checkpoint: Checkpoint, { runId, startedAt }: { runId: string; startedAt: number }): Path {
  return {
    stream: creditLimitOutcomes.name,
    scanId: `${String(checkpoint.scansCompleted + 1).padStart(6, '0')}-${checkpoint.fence}`,
    runId,
    startedAt,
    fence: checkpoint.fence,
  }
}

async function writeOutcomes(path: Path, { checkpoint, lease, deps }: Scanning) {
  const { reader, rowsPerPart = 5_000 } = deps
  const from = checkpoint.lastScan ? checkpoint.lastScan.startedAt - overlapMs : beginning
  const files: PartFile[] = []
  let rows = 0
  let waiting: OutcomeRecord[] = []
  const flush = async () => {
    if (waiting.length === 0) return
    files.push(await writePart({ ...path, part: files.length }, waiting, { lease, deps }))
    rows += waiting.length
    waiting = []
    const expiresAt = lease.proposal()
    await deps.checkpoints.save(checkpoint, { owner: lease.owner, expiresAt })
    lease.extend(expiresAt)
  }
  for await (const outcome of reader.outcomesBetween(from, path.startedAt)) {
    waiting.push(outcomeRecord(outcome))
    if (waiting.length >= rowsPerPart) await flush()
  }
  await flush()
  return { files, rows }
}

function writePart(path: PartPath, records: OutcomeRecord[], { lease, deps }: Pick<Scanning, 'lease' | 'deps'>) {
  const [table] = creditLimitOutcomes.tables
  const columns: Cell[][] = columnsOf(table).map(() => [])
  for (const record of records) {
    const meta = ['upsert', path.runId, path.scanId, path.part, path.startedAt, contentHash(record), null]
    const [cells = []] = table.rows(record)
    for (const [i, cell] of [...cells, ...meta].entries()) columns[i]?.push(cell)
  }
  return deps.lake.writeRows(path, { table, columns, rows: records.length }, lease.signal)
}

async function complete(
  path: Path,
  { checkpoint, lease, deps, files, rows }: Scanning & { files: PartFile[]; rows: number },
): Promise<void> {
  const { stream, scanId, runId, startedAt, fence } = path
  const summary: ScanSummary = {
    ...{ stream, scanId, runId, startedAt },
    completedAt: deps.clock.now(),
    status: 'complete',
    reason: null,
    withheldDeletes: 0,
    counts: Counts.parse({ received: rows, inserted: rows }),
    records: (checkpoint.lastScan?.records ?? 0) + rows,
    filesKey: await deps.index.writeFiles(path, files, lease.signal),
    indexKey: null,
    replacedIndexKey: null,
    fences: { first: fence, last: fence },
  }
  const done: Checkpoint = {
    ...checkpoint,
    status: 'complete',
    reason: null,
    statusAt: summary.completedAt,
    runId,
    scansCompleted: checkpoint.scansCompleted + 1,
    lastScan: summary,
  }
  await deps.checkpoints.complete(done, { owner: lease.owner, expiresAt: lease.expiresAt }, summary)
}
