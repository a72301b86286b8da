import type { Stream } from '../streams/stream.ts'
import type { Counts, ScanSummary } from './checkpoint.ts'
import type { ScanContext } from './context.ts'
import { type IndexEntry, Kind } from './key-table.ts'
import type { CurrentRecord, ScanWindow } from './ports.ts'

/** What a flush brings to the current records. */
type CurrentChanges = { records: CurrentRecord[]; deletes: string[]; mayExist: boolean }

/** What a sync mode makes of what a scan saw: all in which the modes differ. */
export type ModeRules = {
  /** The time that a scan asks its source for. */
  window(stream: Stream, lastScan: ScanSummary | null, startedAt: number): ScanWindow
  /** Whether a key is gone, given the pass that read the list from its first page to its end. */
  isGone(entry: IndexEntry, pass: number): boolean
  /** Whether the index of what is known keeps a key. */
  keeps(entry: IndexEntry, context: ScanContext): boolean
  /** How many records there are after a scan. */
  records(scan: { counts: Counts; lastScan: ScanSummary | null; kept: number }): number
  writeCurrent(changes: CurrentChanges, context: ScanContext): Promise<void>
}

/** Every scan reads the whole list: what differs from the last one is a change, what is missing is gone. */
const fullRefresh: ModeRules = {
  window: (_stream, _lastScan, startedAt) => ({ since: null, until: startedAt }),
  isGone: (entry, pass) => entry.pass !== pass,
  keeps: ({ kind }) => kind !== Kind.deleted,
  records: ({ kept }) => kept,
  writeCurrent: async ({ records, deletes, mayExist }, { deps, stream, lease, scan }) => {
    const { signal } = lease
    const at = scan.startedAt
    if (records.length > 0) {
      await deps.records.put({ stream: stream.name, records, changedAt: at, mayExist, signal })
    }
    if (deletes.length > 0) await deps.records.tombstone({ stream: stream.name, keys: deletes, deletedAt: at, signal })
  },
}

/**
 * Every scan reads what was added since the last one. Nothing is ever gone, the log itself is the record, and what is
 * known is bounded: the keys of the time that the next scan reads once more, since some become visible late.
 */
const append: ModeRules = {
  window: (stream, lastScan, startedAt) => ({
    since: lastScan && lastScan.startedAt - lateMs(stream),
    until: startedAt,
  }),
  isGone: () => false,
  keeps: ({ changedAt }, { stream, scan }) => changedAt >= scan.startedAt - lateMs(stream),
  records: ({ counts, lastScan }) => (lastScan?.records ?? 0) + counts.inserted,
  writeCurrent: async () => {
    // There is no current record of a thing that happened.
  },
}

const modes: Readonly<Record<Stream['mode'], ModeRules>> = { full_refresh: fullRefresh, append }

/** The rules of a stream's sync mode. */
export function rulesOf({ mode }: Pick<Stream, 'mode'>): ModeRules {
  return modes[mode]
}

function lateMs({ lateMs = 0 }: Stream): number {
  return lateMs
}
