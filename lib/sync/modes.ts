import { parentPart } from '../streams/keys.ts'
import type { Stream, SyncMode } from '../streams/stream.ts'
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
  /**
   * Whether a key is gone, and how that is known: a list that was read whole did not show it, or the parent of its list is
   * gone, which the parents' own scan has judged.
   */
  whyGone(entry: IndexEntry, read: Read): 'unseen' | 'orphaned' | null
  /** Whether the index of what is known keeps a key. */
  keeps(entry: IndexEntry, context: ScanContext, read: Read): boolean
  /** How many records there are after a scan. */
  records(scan: { counts: Counts; lastScan: ScanSummary | null; kept: number }): number
  writeCurrent(changes: CurrentChanges, context: ScanContext): Promise<void>
  /** Whether the records table has the records, so that it can say which keys live when the index is lost. */
  readonly hasCurrent: boolean
  /** Whether what a key first stood for stands, whatever another copy of it says. */
  readonly isFinal: boolean
}

/** What a scan has read: the pass that read the list from its first page to its end, and the lists of which parents. */
export type Read = {
  pass: number
  /** Null where there is one list, and for an approval, which reads none. */
  parents: {
    /** The pass that read the list of a parent, as it stands in keys, to its end; 0 when none did. */
    passOf(parent: string): number
    isListed(parent: string): boolean
  } | null
}

/** Every scan reads the whole list: what differs from the last one is a change, what is missing is gone. */
const fullRefresh: ModeRules = {
  window: (_stream, _lastScan, startedAt) => ({ since: null, until: startedAt }),
  whyGone: (entry, { pass }) => (entry.pass === pass ? null : 'unseen'),
  keeps: ({ kind }) => kind !== Kind.deleted,
  records: ({ kept }) => kept,
  hasCurrent: true,
  isFinal: false,
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
 * Every scan reads what was added since the last one. Nothing is ever gone or changes, the log itself is the record, and
 * what is known is bounded: the keys of the time that the next scan reads once more, since some become visible late.
 */
const append: ModeRules = {
  window: (stream, lastScan, startedAt) => ({
    since: lastScan && lastScan.startedAt - lateMs(stream),
    until: startedAt,
  }),
  whyGone: () => null,
  keeps: ({ changedAt }, { stream, scan }) => changedAt >= scan.startedAt - lateMs(stream),
  records: ({ counts, lastScan }) => (lastScan?.records ?? 0) + counts.inserted,
  hasCurrent: false,
  // Two workers that met may both have stored one thing that happened, each with its own time.
  isFinal: true,
  writeCurrent: async () => {
    // There is no current record of a thing that happened.
  },
}

/**
 * Every scan reads the lists of the parents that changed, each whole. What such a list lacks is gone, and so is what
 * belongs to a parent that is gone; what was missed by a suspect scan stays missed. Of all other parents nothing is said.
 */
const incremental: ModeRules = {
  ...fullRefresh,
  whyGone: ({ key, kind, pass }, { parents }) => {
    // What this scan has deleted already was gone before it was gone on with.
    if (kind === Kind.mark || kind === Kind.deleted) return null
    if (parents && !parents.isListed(parentPart(key))) return 'orphaned'
    const readIn = parents?.passOf(parentPart(key)) ?? 0
    // A later pass may have begun the list once more, and not come to its end: what it showed is there.
    if (readIn > 0) return pass >= readIn ? null : 'unseen'
    return kind === Kind.missing ? 'unseen' : null
  },
  keeps: ({ key, kind }, _context, { parents }) =>
    kind === Kind.mark ? parents === null || parents.isListed(key) : kind !== Kind.deleted,
}

const modes: Readonly<Record<SyncMode, ModeRules>> = { full_refresh: fullRefresh, append, incremental }

/** The rules of a stream's sync mode. */
export function rulesOf({ mode }: Pick<Stream, 'mode'>): ModeRules {
  return modes[mode]
}

function lateMs({ lateMs = 0 }: Stream): number {
  return lateMs
}
