import { messageOf } from '../core/errors.ts'
import type { Stream } from '../streams/stream.ts'
import type { Counts, Notice } from './checkpoint.ts'
import type { ScanContext } from './context.ts'
import { Kind } from './key-table.ts'
import type { Attempt } from './open-scan.ts'
import type { ReadingState } from './page-reader.ts'
import { noticesOfParents } from './parent-counts.ts'
import type { ObservedScan } from './ports.ts'

/** What is to be said about a scan, by its reading and by its observer. */
export type Observation = { notices: Notice[]; acknowledge(): Promise<void> }

const order = { critical: 0, warning: 1, info: 2 } as const satisfies Record<Notice['severity'], number>
const noticesKept = 20

/**
 * Lets the stream's observer see the scan that has read its list, and why its deletes are withheld if they are. The
 * observer's rows go to the scan's files, in parts of their own.
 */
export async function observeScan(
  { context, reader, intake, flusher }: Attempt,
  { withheld }: Pick<ObservedScan, 'withheld'>,
): Promise<Observation> {
  const { observer, scan, lease, stream } = context
  const ofReading = noticesOf(stream.name, reader.state)
  // An approval reads no list: the scan whose deletes it accepts was observed.
  if (!observer || scan.approval) return { notices: gravest(ofReading), acknowledge: async () => {} }
  const { pass } = reader.state
  const ownNotices = [...unobserved(stream, intake.state.counts), ...ofReading]
  const seen = function* (): Iterable<string> {
    for (const entry of intake.entries()) if (entry.pass === pass && entry.kind !== Kind.deleted) yield entry.key
  }
  const { notices, acknowledge } = await observer.completed(
    { runId: scan.runId, scanId: scan.scanId, seen, withheld, writeRows: flusher.writeObserved },
    lease.signal,
  )
  return { notices: gravest([...ownNotices, ...notices]), acknowledge: () => acknowledgeOrLog(context, acknowledge) }
}

/** What was strange about the answers, though the list was read whole. */
function noticesOf(stream: string, { pageSize, unknownMembers = [], parents }: ReadingState): Notice[] {
  const notices: Notice[] = parents ? noticesOfParents(stream, parents) : []
  if (pageSize !== undefined) {
    notices.push({
      severity: 'warning',
      code: 'smaller_pages',
      about: `${stream} was read in pages of ${pageSize}`,
      message: 'Larger ones were too heavy for the platform.',
    })
  }
  if (unknownMembers.length > 0) {
    const names = unknownMembers.map(({ name, pages }) => `${name} (on ${pages} page${pages === 1 ? '' : 's'})`)
    notices.push({
      severity: 'info',
      code: 'unknown_members',
      about: `Answers of ${stream} hold ${names.join(', ')} beside the list`,
      message: 'The API has changed; what these say is not looked at.',
    })
  }
  return notices
}

/** What no observer could be shown. */
function unobserved({ name }: Stream, { quarantined }: Counts): Notice[] {
  if (quarantined === 0) return []
  const message = 'They are in quarantine with the reason, and in no record that is kept of this stream.'
  return [
    {
      severity: 'warning',
      code: 'quarantined',
      about: `${quarantined} ${quarantined === 1 ? 'record' : 'records'} of ${name} can't be used`,
      message,
    },
  ]
}

/** A checkpoint is bounded, and so is what it keeps of these. */
export function gravest(notices: readonly Notice[]): Notice[] {
  const kept = notices.toSorted((a, b) => order[a.severity] - order[b.severity]).slice(0, noticesKept)
  const left = notices.length - kept.length
  if (left === 0) return kept
  return [
    ...kept,
    { severity: 'info', code: 'more', about: `${left} more`, message: 'Not all of them are listed here.' },
  ]
}

/** The scan is complete, whatever happens now. What is not acknowledged is told again. */
async function acknowledgeOrLog({ deps, stream }: ScanContext, acknowledge: () => Promise<void>): Promise<void> {
  try {
    await acknowledge()
  } catch (error) {
    deps.log.warn('What was observed could not be acknowledged; the next scan tells it again.', {
      stream: stream.name,
      reason: messageOf(error),
    })
  }
}
