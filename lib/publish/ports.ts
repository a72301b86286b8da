import type { Deadline } from '../core/deadline.ts'
import type { Stream } from '../streams/stream.ts'
import type { Table } from '../streams/table.ts'
import type { PartFile, ScanFootprint } from '../sync/checkpoint.ts'
import type { LeaseClaim } from '../sync/ports.ts'
import type { BehindTable, Manifest, PublishState, RunRecord } from './manifest.ts'

/** Manifests in the lake: only the files that they list count. */
export type Manifests = {
  readManifest(runId: string): Promise<Manifest | null>
  /** Makes a manifest visible: from this instant readers count its files. */
  writeManifest(manifest: Manifest, signal: AbortSignal): Promise<void>
  /**
   * Adds the files of these scans of a manifest to the list of its month, which readers take: of them there are few,
   * however many runs there were. Repeating it adds nothing.
   */
  addToList(publication: Manifest, signal: AbortSignal): Promise<void>
  /**
   * Removes what the attempts at these scans left, and what was merged and is in no publication: `files` are those of this one.
   * `stream`: one of those that they are of. Answers how many objects.
   */
  removeLeftovers(
    scans: readonly ScanFootprint[],
    stream: Stream,
    publication: { files: readonly PartFile[]; signal: AbortSignal },
  ): Promise<number>
  /** Makes `manifests/latest.json` a copy of a manifest. */
  pointLatest(manifest: Manifest, signal: AbortSignal): Promise<void>
}

/** What the first parts of a list became, and how many of them there were. */
export type MergedParts = { files: PartFile[]; taken: number }

/** Makes few files out of the parts that scans flushed. */
export type Merger = {
  /**
   * Writes the rows of the first of these parts, as many as can be merged at a time, into files sorted by the table's key.
   * No two of the files have a record in common, nor reaches one over another. Whoever repeats it writes the same objects.
   */
  mergeParts(table: Table, parts: readonly PartFile[], lease: PublishLease): Promise<MergedParts>
  /** The same of a stream's quarantine, whose records stay in the order of the parts. */
  mergeQuarantine(parts: readonly PartFile[], lease: PublishLease): Promise<MergedParts>
}

/** The publisher's own state. One publisher works at a time, by the same leases as streams. */
export type Publications = {
  acquire(claim: LeaseClaim): Promise<{ state: PublishState } | { heldBy: string; until: number }>
  save(state: PublishState, lease: { owner: string; expiresAt: number; release?: boolean }): Promise<void>
  /** The tables that are behind, by their names, for those who only look. */
  behind(): Promise<PublishState['behind']>
}

/** Outcomes of runs, newest first, for `status` and for a schedule that fires twice. */
export type Runs = {
  /** Replaces what was written of the run, unless another worker has a stream of it (`running`). */
  write(record: RunRecord): Promise<void>
  latest(): Promise<RunRecord | null>
  /** All that are kept, page by page as they are asked for: whoever needs some stops there. */
  newestFirst(): AsyncIterable<RunRecord>
  /** The record of a run, or null when it has not ended yet. */
  read(run: { runId: string; scheduledAt: number }): Promise<RunRecord | null>
  /** The records of runs that were due from one time up to another, the latter not included. Unix ms. */
  between(from: number, until: number): Promise<RunRecord[]>
}

/** The table of runs in the lake, for those who ask in SQL. It follows from the records of runs. */
export type RunsTable = {
  /** Brings the rows of the run's month up to date: those of the run, and those that earlier tries could not write. */
  note(record: RunRecord): Promise<void>
}

/** What the configuration says of fields, by stream and path. */
export type RulesInForce = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Tells others that a run has ended: on AWS an event on EventBridge, on a laptop nothing. */
export type Announcer = {
  /** May tell it twice when the worker dies right after: `runId` says that it is the same. */
  announce(record: RunRecord, manifest: Manifest): Promise<void>
}

/** The catalog that warehouse engines read: on AWS Glue partitions, on a laptop nothing. */
export type Catalog = {
  /** Registers the partitions of a manifest's files. Repeating it is harmless. */
  register(manifest: Manifest): Promise<void>
}

/** The right to write while a publication lasts. */
export type PublishLease = {
  signal: AbortSignal
  /** Renews it; throws when it is lost. */
  stillMine(): Promise<void>
}

/** The tables that are behind what is published, as the publisher's state has them. */
export type BehindTables = {
  of(name: string): BehindTable | undefined
  /** Takes down how a table stands; null when it is up to date. Whatever writes the publisher's state next brings it along. */
  note(name: string, stands: BehindTable | null): void
  /** Makes what is noted durable now. */
  save(): Promise<void>
}

/** A publication that was made a moment ago: all that the tables noted since then can lack. */
export type MadeNow = Pick<Manifest, 'runId' | 'publishedAt' | 'scans'>

/** What bringing tables up to date may use. */
export type Following = PublishLease & {
  behind: BehindTables
  /** The tables to be brought up to date, of those that are behind. */
  names: ReadonlySet<string>
  /** Those among them that lack nothing but these publications, oldest first. */
  made: { names: ReadonlySet<string>; publications: readonly MadeNow[] }
  deadline: Deadline
}

/** Tables that warehouse engines open by their own means. They follow what is published, each by itself. */
export type WarehouseTables = {
  /** The tables that some streams feed. */
  namesOf(streams: readonly string[]): string[]
  /**
   * Brings tables up to date, one after the other until the time is up, and takes down how each stands. What keeps one
   * from it keeps no other. Answers whether any has come further or had no turn: then another attempt may have time for it.
   */
  follow(following: Following): Promise<boolean>
}
