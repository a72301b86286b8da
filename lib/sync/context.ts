import type { Clock } from '../core/clock.ts'
import type { Deadline } from '../core/deadline.ts'
import type { Json } from '../core/json.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Patience } from '../core/patience.ts'
import type { Stream } from '../streams/stream.ts'
import type { Counts, Notice, Scan, StreamStatus } from './checkpoint.ts'
import type { Lease } from './lease.ts'
import type { Checkpoints, IndexStore, Lake, Records, ScanWindow, Source, StreamObserver } from './ports.ts'

/** One scheduled run. The id comes from the scheduled time, so a schedule that fires twice is one run. */
export type Run = { runId: string; scheduledAt: number }

/** How much is gathered before it is written, and how time is kept. Milliseconds and bytes. */
export type SyncSettings = {
  flushRecords: number
  flushBytes: number
  flushMs: number
  leaseMs: number
  /** What must remain of the invocation after the last flush. */
  marginMs: number
  /** How long one stream waits at the platform's word, all such waits together: per attempt on AWS, per run on a laptop. */
  patienceMs: number
}

/** Flushes every 5,000 records (50,000 that are known by their bytes), 16 MB or 30 s, whichever comes first. */
export const defaultSettings: SyncSettings = {
  flushRecords: 5_000,
  flushBytes: 16 * 1024 * 1024,
  flushMs: 30_000,
  leaseMs: 180_000,
  marginMs: 5_000,
  patienceMs: 60_000,
}

/** Everything the engine needs from the world. */
export type SyncDeps = {
  source: Source
  checkpoints: Checkpoints
  records: Records
  lake: Lake
  index: IndexStore
  /** Who sees the records of a stream, by its name. */
  observers: Readonly<Record<string, StreamObserver>>
  /** Replaces secret values before anything else sees the record. */
  redact: (record: Json, stream: Stream) => Json
  /** A key for digests of unredacted bytes; one for each purpose. */
  digestKey: (purpose: string) => Uint8Array
  clock: Clock
  deadline: Deadline
  /** What is left for waits that the platform dictates. */
  patience: Patience
  log: Log
  metrics: Metrics
  /** A name for this attempt that no other attempt has. */
  newOwner: () => string
  settings: SyncSettings
}

/** What one attempt at a stream came to. */
export type StreamResult = {
  stream: string
  runId: string
  status: StreamStatus
  reason: string | null
  /** How long to wait before the next attempt, when the platform said so. */
  retryAfterMs: number | null
  /** What the scan has counted, over all runs that it took. */
  counts: Counts | null
  /** What of that this run asked and received. */
  ofRun?: Counts | null | undefined
  /** What deserves attention in the scan that ended, the gravest first. */
  notices?: readonly Notice[] | undefined
}

/** What names a scan, from its first attempt to its last, and what it had counted when the run took it up. */
export type ScanIdentity = Readonly<Pick<Scan, 'scanId' | 'runId' | 'firstFence' | 'startedAt' | 'approval'>> & {
  readonly takenUp: NonNullable<Scan['takenUp']>
}

/** What an attempt works with and never changes: the stream, the run, the scan's name, the lease, and the world. */
export type ScanContext = {
  readonly stream: Stream
  readonly run: Run
  readonly scan: ScanIdentity
  /** The time that the source is asked for. */
  readonly window: ScanWindow
  /** The fence of this attempt: it names what the attempt writes. */
  readonly fence: number
  readonly lease: Lease
  readonly observer: StreamObserver | undefined
  readonly deps: Readonly<SyncDeps>
}
