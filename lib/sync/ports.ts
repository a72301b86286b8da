import type { ErrorCode } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import type { Patience } from '../core/patience.ts'
import type { Recognizer } from '../platform/cut.ts'
import type { Page } from '../platform/paging.ts'
import type { Stream } from '../streams/stream.ts'
import type { Cell, Table } from '../streams/table.ts'
import type { Checkpoint, Notice, PartFile, ScanFootprint, ScanSummary } from './checkpoint.ts'

/** The API as the engine sees it. Throws the errors of core/errors.ts; never answers an unknown shape as "no data". */
export type Source = {
  /** Requests the page at a token (null: the first). */
  fetchPage(stream: Stream, token: string | null, request: PageRequest): Promise<SourcePage>
}

/** A page, and where there is a list per parent, what it says of the parent's. */
export type SourcePage = Page & { ofParent?: OfParent }

/** What a page says of the list of one parent. */
export type OfParent = {
  /** The list begins anew with this page, since a token of it was refused. */
  restarts?: boolean
  /** The list was read to its end: the parent as it stands in keys, and what the index is to remember of it. */
  completes?: { key: string; id: string; mark: Uint8Array; miscounted: boolean }
  /** The list can't be read this time. */
  unread?: { id: string; code: ErrorCode }
}

/**
 * What a source is told besides the place. `pageSize` asks for smaller pages than the declared ones; `patience` bounds
 * the waits that the source is asked for; `recognizer` tells records that need not be read; `onRequest` is called for each
 * HTTP request, retries included; `parent` says whose list is meant where there is one per parent.
 */
export type PageRequest = {
  window: ScanWindow
  signal: AbortSignal
  patience: Patience
  pageSize?: number | undefined
  recognizer?: Recognizer | undefined
  parent?: string
  onRequest: () => void
}

/** Of things that happened: those from `since` (null: the beginning) up to, not including, `until`. Unix ms. */
export type ScanWindow = { since: number | null; until: number }

/** Who works on a stream, and until when unless renewed. */
export type LeaseClaim = { owner: string; now: number; expiresAt: number }

/** Scans of a stream that wait for publish: what they take of its item, and when the oldest ended (Unix ms). */
export type Waiting = { scans: number; bytes: number; since: number | null }

/**
 * Checkpoints and leases. Every write is conditional on the fence, so that a worker which lost its lease writes nothing:
 * it gets `FatalError` with code `lease_lost`. A lease counts as expired by comparing times, never by its absence.
 */
export type Checkpoints = {
  read(stream: string): Promise<Checkpoint | null>
  /**
   * Takes the lease if it is free or expired: the checkpoint with its fence one higher and what waits for publish, or who
   * holds it until when.
   */
  acquire(
    stream: string,
    claim: LeaseClaim,
  ): Promise<{ checkpoint: Checkpoint; waiting: Waiting } | { heldBy: string; until: number }>
  /** Writes the checkpoint and renews the lease (`release: true`: gives it up). */
  save(checkpoint: Checkpoint, lease: { owner: string; expiresAt: number; release?: boolean }): Promise<void>
  /** Writes the checkpoint, gives the lease up, and adds the scan to those that wait for publish: one write. */
  complete(checkpoint: Checkpoint, lease: { owner: string; expiresAt: number }, summary: ScanSummary): Promise<void>
  /** Scans of a stream that ended and are in no manifest yet, oldest first. */
  unpublished(stream: string): Promise<ScanSummary[]>
  /** Those of many streams, stream by stream, in as few calls as there can be. */
  unpublishedOf(streams: readonly string[]): Promise<ScanSummary[]>
  /** Forgets that a scan waits for publish. Repeating it is harmless. */
  markPublished(stream: string, scanId: string): Promise<void>
  /** Forgets a stream's scan in progress, or with `index` also what is known of its records. Fails while it is held. */
  reset(stream: string, options: { index: boolean; now: number }): Promise<void>
}

/** A stream as people look at it: its checkpoint, and who works on it at this moment, which are null when there is none. */
export type StreamState = { checkpoint: Checkpoint | null; holder: { owner: string; until: number } | null }

/** Looks at all streams and shards at once, so that looking costs the same however many there are. */
export type StateReader = { look(now: number): Promise<(stream: string) => StreamState> }

/** A record as it stands in the records table. */
export type CurrentRecord = { key: string; hash: string; body: string }

/**
 * Current records: one item per stream and primary key, with hash, body, `firstSeenAt`, `changedAt` and `deletedAt`.
 * All writes are safe to repeat and stop when `signal` aborts (the lease ran out).
 */
export type Records = {
  /** `mayExist` false promises that none of the keys was ever written by an earlier scan, and saves the reads. */
  put(change: {
    stream: string
    records: CurrentRecord[]
    changedAt: number
    mayExist: boolean
    signal: AbortSignal
  }): Promise<void>
  /** Sets `deletedAt`, and leaves the body as it was last seen. */
  tombstone(change: { stream: string; keys: string[]; deletedAt: number; signal: AbortSignal }): Promise<void>
  get(stream: string, key: string): Promise<StoredRecord | null>
  /** The bodies of those records that there are, by key. */
  bodies(wanted: { stream: string; keys: readonly string[]; signal: AbortSignal }): Promise<ReadonlyMap<string, string>>
  /** The keys of a stream's records that are not deleted, in no order. Reads the whole table: for when the index is lost. */
  keys(stream: string, signal: AbortSignal): AsyncIterable<string>
}

/** What the records table knows of one record. Times are Unix ms. */
export type StoredRecord = CurrentRecord & { firstSeenAt: number; changedAt: number; deletedAt: number | null }

/** Rows of one table, column by column, in the order of `columnsOf(table)`. */
export type RowBatch = { table: Table; columns: Cell[][]; rows: number }

/** A record that no table can take: why, and its raw (redacted) form as JSON text. */
export type QuarantinedRecord = { key: string | null; reasons: string[]; raw: string }

/** A redacted record as the list showed it, unchanged ones and odd ones included, with its content hash. */
export type ObservedRecord = { hash: string; record: { [key: string]: Json } }

/** The scan in which something was observed. */
export type ScanIds = { runId: string; scanId: string }

/** What an observer gets to see of a scan that has read its list to the end. */
export type ObservedScan = ScanIds & {
  /** Primary keys of all known records that the list showed as it was read to its end. */
  seen: () => Iterable<string>
  /** Why the scan is suspect, so that what its list lacks is not to be taken for gone; null when it is gone. */
  withheld: string | null
  /** Writes rows of one of the stream's `observedTables` into the scan's files. */
  writeRows: (table: Table, records: readonly unknown[]) => Promise<void>
}

/**
 * Sees all that a stream's list shows, to keep a record of its own. Everything it is asked may be asked again, by
 * another attempt or at the same time, and must then change nothing.
 */
export type StreamObserver = {
  /** Before a checkpoint moves past these records. */
  flushed(records: readonly ObservedRecord[], scan: ScanIds, signal: AbortSignal): Promise<void>
  /**
   * Before a scan that read its list to the end completes, suspect or not; an approval reads none. Answers what to say
   * about the scan, and what to do once it is complete. What is not acknowledged is told again by the next scan.
   */
  completed(scan: ObservedScan, signal: AbortSignal): Promise<{ notices: Notice[]; acknowledge(): Promise<void> }>
}

/** Where the objects of one flush lie. Part numbers grow within the scan; the fence names the attempt. */
export type PartPath = { stream: string; scanId: string; runId: string; startedAt: number; part: number; fence: number }

/**
 * The lake: change log and quarantine. An object only counts when a manifest lists it, so that writes of dead or stalled
 * attempts are harmless.
 */
export type Lake = {
  /** One Parquet object of a table; its columns are the declared ones whatever the values are. */
  writeRows(path: PartPath, batch: RowBatch, signal: AbortSignal): Promise<PartFile>
  writeQuarantine(path: PartPath, records: QuarantinedRecord[], signal: AbortSignal): Promise<PartFile>
  /**
   * Removes the objects in the scans' partitions that an attempt at one of them (`fences`) wrote and `files` don't list.
   * They are scans of one stream, or of its shards: those share folders, which are listed once.
   */
  removeOrphans(scans: readonly ScanFootprint[], stream: Stream, files: readonly PartFile[]): Promise<number>
}

/** A part among the working objects: `readIndex` reads it by its key. */
export type PartObject = { key: string; scanId: string; part: number; fence: number }

/** Working objects of the engine: what is known of a stream, and what a scan has seen so far. */
export type IndexStore = {
  /** What the flush saw, in the form of sync/index-format.ts. */
  writePart(path: PartPath, bytes: Uint8Array, signal: AbortSignal): Promise<void>
  readPart(path: PartPath): Promise<Uint8Array | null>
  /** The parts of a stream's scans that are not removed yet, those of dead attempts included, in no order. */
  listParts(stream: string): Promise<PartObject[]>
  /** The key under which an index of this scan and fence lies. */
  indexKey(path: Omit<PartPath, 'part'>): string
  writeIndex(key: string, chunks: Iterable<Uint8Array>, signal: AbortSignal): Promise<void>
  /** The index piece by piece, since it grows with the stream; null when it is missing. */
  openIndex(key: string): Promise<AsyncIterable<Uint8Array> | null>
  /** An object whole; null when it is missing. */
  readIndex(key: string): Promise<Uint8Array | null>
  /** The same for what many read in a row: where it is small, it is kept until another is asked for. */
  readShared(key: string): Promise<Uint8Array | null>
  /** The files of a scan, so that publish need not read its parts. */
  writeFiles(path: Omit<PartPath, 'part'>, files: PartFile[], signal: AbortSignal): Promise<string>
  readFiles(key: string): Promise<PartFile[] | null>
  /**
   * The working objects that nobody needs once these scans are published, and those of scans that were given up before
   * them: parts, lists of files, indexes that dead attempts left, and the indexes they replaced. Never a later scan's: one
   * may be completing right now. They are scans of one stream, or of its shards.
   */
  objectsOf(scans: readonly ScanSummary[]): Promise<string[]>
  remove(keys: readonly string[]): Promise<void>
}
