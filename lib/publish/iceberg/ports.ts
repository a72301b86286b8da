import type { Clock } from '../../core/clock.ts'
import type { Stream } from '../../streams/stream.ts'
import type { Cell, Column, Table } from '../../streams/table.ts'
import type { PublishedFile } from '../manifest.ts'
import type { SnapshotRetention, TableMetadata } from './metadata.ts'

/** Objects of the lake. Writing one is all or nothing. */
export type TableFiles = {
  put(key: string, bytes: Uint8Array, options: { signal: AbortSignal; contentType: string }): Promise<void>
  get(key: string): Promise<Uint8Array | null>
  /** Writes a copy of an object; false when there is none. */
  copy(from: string, to: string, options: { signal: AbortSignal }): Promise<boolean>
  list(prefix: string): Promise<string[]>
  remove(keys: readonly string[]): Promise<void>
}

/** Rows of a file, column by column. */
export type RowGroup = readonly (readonly Cell[])[]

/** Parquet files as rows. */
export type RowFiles = {
  /** The cells of some columns, group by group in the order of the file. A column that the file lacks is null. */
  read(bytes: Uint8Array, columns: readonly Column[]): AsyncIterable<RowGroup>
  /** Begins a file of a table. */
  open(table: Table): RowFileWriter
}

/** A file that is being written. */
export type RowFileWriter = {
  /** Adds rows as a group of their own: all columns of the table. */
  add(group: RowGroup): void
  /** Bytes so far. */
  size(): number
  /** The whole file. */
  finish(): Uint8Array
}

/** A table as it is found: its metadata, the address it was read from, and what `replace` compares. */
export type FoundTable = { metadata: TableMetadata; path: string; version: string }

/** Which metadata is a table's. Replacing it is the commit: from that instant engines see the new snapshot, and all of it. */
export type TablePointers = {
  /** Null when there is no such table. */
  find(name: string): Promise<FoundTable | null>
  /** Answers false, and changes nothing for readers, when the table is not any more as it was found. */
  replace(
    name: string,
    change: { found: FoundTable | null; metadata: TableMetadata; signal: AbortSignal },
  ): Promise<boolean>
}

/** How large the files of a current table become, packed, and how many rows are in a group of them. */
export type FileSize = { bytes: number; groupRows: number }

/** Files of 64 MB are few, and with a group of rows they fit into the memory of a function. */
export const defaultFileSize: FileSize = { bytes: 64 * 1024 * 1024, groupRows: 25_000 }

/** A minute of work lost costs less than an object for each file would on every night. */
export const defaultProgressMs = 60_000

/** What keeping the tables needs from the world. */
export type IcebergDeps = {
  files: TableFiles
  rows: RowFiles
  pointers: TablePointers
  streams: readonly Stream[]
  /** All files that were ever published, in no order: what a table begins with that does not exist yet. */
  history(): Promise<readonly PublishedFile[]>
  /** The address of the lake: `s3://<bucket>`. Engines find files by whole addresses. */
  address: string
  retention: SnapshotRetention
  fileSize: FileSize
  /** What a death may cost: how far an update is becomes durable as often. */
  progressMs: number
  clock: Clock
  /** A text that no other attempt at a commit has. */
  newAttempt: () => string
}
