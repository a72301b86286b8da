import { messageOf } from '../core/errors.ts'
import { type Cell, columnsOf, type Table } from '../streams/table.ts'
import type { Attempt } from './attempt.ts'
import type { Remark } from './checkpoint.ts'
import { partPath, partsOf } from './flush.ts'
import { Kind } from './key-table.ts'

/** What an observer made of a scan. */
export type Observation = { remarks: Remark[]; settle(): Promise<void> }

const nothing: Observation = { remarks: [], settle: async () => {} }
const order = { critical: 0, warning: 1, info: 2 } as const satisfies Record<Remark['severity'], number>
const remarksKept = 20

/** Lets the stream's observer see the scan that has read its list. Its rows go to the scan's files, in parts of their own. */
export async function observeScan(attempt: Attempt): Promise<Observation> {
  const { observer, scan, lease } = attempt
  // An approval reads no list: the scan whose deletes it accepts was observed.
  if (!observer || scan.approval) return nothing
  let part = partsOf(scan)
  const { runId, scanId } = scan
  const writeRows = async (table: Table, records: readonly unknown[]) => {
    const path = partPath(attempt, part++)
    const rows = rowsOf(table, records, [runId, scanId, path.part, scan.startedAt])
    const columns = columnsOf(table).map((_, at) => rows.map((cells) => cells[at] as Cell))
    attempt.files.push(await attempt.deps.lake.writeRows(path, { table, columns, rows: rows.length }, lease.signal))
  }
  const { remarks, settle } = await observer.completed(
    { runId, scanId, seen: () => seenKeys(attempt), writeRows },
    lease.signal,
  )
  return { remarks: gravest(remarks), settle: () => settleOrLog(attempt, settle) }
}

function* seenKeys({ table }: Attempt): Iterable<string> {
  for (let at = 0; at < table.size; at++)
    if (table.pass(at) !== 0 && table.kind(at) !== Kind.deleted) yield table.key(at)
}

type Meta = [runId: string, scanId: string, part: number, startedAt: number]

function rowsOf(table: Table, records: readonly unknown[], meta: Meta): Cell[][] {
  return records.flatMap((record) =>
    [...table.rows(record as never)].map((cells) => [...cells, 'upsert', ...meta, null, null]),
  )
}

/** A checkpoint is bounded, and so is what it keeps of these. */
function gravest(remarks: readonly Remark[]): Remark[] {
  const kept = remarks.toSorted((a, b) => order[a.severity] - order[b.severity]).slice(0, remarksKept)
  const left = remarks.length - kept.length
  if (left === 0) return kept
  return [
    ...kept,
    { severity: 'info', code: 'more', about: `${left} more`, message: 'Not all of them are listed here.' },
  ]
}

/** The scan is complete, whatever happens now. What is not settled is told again. */
async function settleOrLog({ deps, stream }: Attempt, settle: () => Promise<void>): Promise<void> {
  try {
    await settle()
  } catch (error) {
    deps.log.warn('What was observed could not be settled; the next scan tells it again.', {
      stream: stream.name,
      reason: messageOf(error),
    })
  }
}
