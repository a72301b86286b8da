import type { Clock } from '../core/clock.ts'
import type { Manifest, PublishedFile } from '../publish/manifest.ts'
import type { Publications, PublishLease } from '../publish/ports.ts'
import type { Stream } from '../streams/stream.ts'
import type { PartFile } from '../sync/checkpoint.ts'
import type { Checkpoints, StateReader } from '../sync/ports.ts'
import type { Finder } from './person.ts'

type PutOptions = { signal?: AbortSignal; contentType?: string }

/** A version of an object that is not the newest one. */
export type OldVersion = { key: string; version: string }

/** A bucket with all that it keeps. */
export type Bucket = {
  readonly bucket: string
  get(key: string): Promise<Uint8Array | null>
  put(key: string, bytes: Uint8Array, options?: PutOptions): Promise<void>
  replace(key: string, change: (bytes: Uint8Array | null) => Uint8Array | null, options?: PutOptions): Promise<void>
  list(prefix: string): Promise<string[]>
  remove(keys: readonly string[]): Promise<void>
  /** Versions that are not the newest. None where the bucket keeps none. */
  oldVersions(): AsyncIterable<OldVersion>
  getVersion(version: OldVersion): Promise<Uint8Array | null>
  removeVersions(versions: readonly OldVersion[]): Promise<void>
}

/** An item of a table, by the names of its attributes. */
export type Item = Readonly<Record<string, unknown>>

/** A table of items with all that it keeps. */
export type Items = {
  all(): AsyncIterable<Item>
  /** Changes attributes that are still as they were read; false when they are not. */
  change(before: Item, after: Item): Promise<boolean>
  remove(item: Item): Promise<void>
}

/** What a file became without a person; null when nothing is left of it. */
export type Rewritten = { bytes: Uint8Array; rows: number } | null

/** Contents of objects, packed as they may be. */
export type Contents = {
  /** In how many rows, lines or entries of an object a person is named. */
  mentions(key: string, bytes: Uint8Array, finder: Finder): Promise<number>
  /** Rows of a published table or lines of a quarantine without the person. `stream`: who feeds it. */
  rewriteFile(file: { stream: Stream; key: string; bytes: Uint8Array }, finder: Finder): Promise<Rewritten>
  /** Another object, text or packed text, without the person. */
  rewriteText(key: string, bytes: Uint8Array, finder: Finder): Promise<Uint8Array>
  /** Texts of some columns of a file of a table, row by row. */
  cells(stream: Stream, bytes: Uint8Array, columns: readonly string[]): Promise<(string | null)[][]>
}

/** The lake's own lists of what is published. */
export type PublishedLists = {
  readFiles(): Promise<PublishedFile[]>
  /** Makes a manifest of a run, and the copy of the newest, name other files. */
  changeManifests(change: FileChange, signal: AbortSignal): Promise<void>
  /** Makes the lists that readers take name other files. */
  changeLists(change: FileChange, signal: AbortSignal): Promise<void>
  /** All manifests of runs that are kept. */
  manifests(): AsyncIterable<Manifest>
}

/** What stands in a list instead of a file: itself, another one, or nothing. */
export type FileChange = <F extends PartFile>(file: F) => F | null

/** Iceberg tables, made anew from the lists of published files. */
export type TableRemaker = {
  /** Makes these tables, and the current ones beside them, without history; then removes all that they had. */
  remake(tables: ReadonlySet<string>, lease: PublishLease): Promise<void>
}

/** Files on this machine. */
export type SavedFiles = Pick<Bucket, 'list' | 'get' | 'remove'>

/** What erasing a person needs from the world. */
export type EraseDeps = {
  lake: Bucket
  /** Dropped files, the policy and its plans; null where there is none. */
  inbox: Bucket | null
  /** Plans of credit limits that somebody saved on this machine. */
  savedPlans: SavedFiles
  records: Items
  state: Items
  /** The ledger of credit limits; null where there is none. */
  limits: Items | null
  /** The audit trail's bucket, which is only looked at; null where there is none. */
  audit: Pick<Bucket, 'list' | 'get'> | null
  lists: PublishedLists
  contents: Contents
  tables: TableRemaker
  publications: Publications
  checkpoints: Pick<Checkpoints, 'unpublishedOf'> & StateReader
  /** The streams as they are read. */
  streams: readonly Stream[]
  /** A keyed fingerprint of an address: what is kept of it. */
  fingerprint: (address: string) => string
  /** What stands for an address in records, where the configuration has it hashed. */
  hashedForm: (address: string) => string
  clock: Clock
  newOwner: () => string
  leaseMs: number
}
