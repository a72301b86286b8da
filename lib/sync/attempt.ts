import type { Clock } from '../core/clock.ts'
import type { Deadline } from '../core/deadline.ts'
import type { Json } from '../core/json.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { PartFile } from '../publish/manifest.ts'
import type { Inspector } from '../streams/drift.ts'
import type { Stream } from '../streams/stream.ts'
import type { Buffered } from './buffer.ts'
import type { Checkpoint, Counts, Remark, Scan, StreamStatus } from './checkpoint.ts'
import type { KeyTable } from './key-table.ts'
import type { Lease } from './lease.ts'
import type { Checkpoints, IndexStore, Lake, Records, Source, StreamObserver } from './ports.ts'

/** One scheduled occasion. The id comes from the scheduled time, so a schedule that fires twice is one run. */
export type Run = { runId: string; scheduledAt: number }

/** How much is gathered before it is written, and how time is kept. Milliseconds and bytes. */
export type SyncSettings = {
  flushRecords: number
  flushBytes: number
  flushMs: number
  leaseMs: number
  /** What must remain of the invocation after the last flush. */
  marginMs: number
}

/** When to flush, how long a lease lasts, and how much time an attempt leaves unused at its end. */
export const defaultSettings: SyncSettings = {
  flushRecords: 5_000,
  flushBytes: 16 * 1024 * 1024,
  flushMs: 30_000,
  leaseMs: 180_000,
  marginMs: 5_000,
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
  clock: Clock
  deadline: Deadline
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
  counts: Counts | null
  /** What deserves attention in the scan that ended, the gravest first. */
  remarks?: readonly Remark[] | undefined
}

/** An attempt at work: the scan it moves on, what is known, and what waits to be written. */
export type Attempt = {
  readonly stream: Stream
  readonly run: Run
  readonly deps: SyncDeps
  readonly lease: Lease
  readonly observer: StreamObserver | undefined
  readonly table: KeyTable
  readonly inspect: Inspector
  /** Page tokens of this pass, as digests. */
  readonly usedTokens: Set<string>
  /** Keys of this pass that are known by broken copies alone. */
  readonly brokenKeys: Set<string>
  /** Lake files of the whole scan. */
  readonly files: PartFile[]
  /** How many live records were known when the scan began. */
  readonly known: number
  /** True when the index lists keys that an earlier, suspect scan missed. */
  readonly hadMissing: boolean
  /** True when dead attempts left keys in doubt: what the index says of them may not hold. */
  readonly hadDoubts: boolean
  /** True when there is no index to be read: then the keys come from the records table, without their content. */
  readonly indexLost: boolean
  /** The checkpoint as it was last saved, or acquired. */
  checkpoint: Checkpoint
  /** The scan as far as it is read; the checkpoint follows when it is flushed. */
  scan: Scan
  buffer: Buffered
  /** The write of the buffer before this one: at most two are alive. */
  flushing: Promise<void>
  /** The longest page and the longest flush so far, in ms: what one more would take. */
  slowest: { pageMs: number; flushMs: number }
}
