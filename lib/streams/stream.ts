import type * as z from 'zod'
import type { Reading } from '../platform/paging.ts'
import type { FieldOf } from './schema-layers.ts'
import type { Table } from './table.ts'

/** How a stream is brought up to date, named as the field names it. */
export type SyncMode =
  /** Each scan reads the whole list, and a comparison with what is known says what is new, changed or gone. */
  | 'full_refresh'
  /** Each scan reads what was added since the one before. Nothing that was written changes or goes. */
  | 'append'
  /** There is a list per parent: each scan reads the lists of those parents that changed since they were last read to the end. */
  | 'incremental'

/** A record as it stands in the records table. */
type StoredFields = { readonly [key: string]: unknown }

/** The parents of a stream that has a list per parent. Their ids are the first value of its primary key. */
export type Parent = {
  /** The stream of the parents. */
  readonly stream: Stream
  /** What tells, when it differs, that a parent's list may have changed: a text. */
  readonly watermark: (parent: StoredFields) => string
  /** How many records a parent says that its list has, where it does. */
  readonly size: (parent: StoredFields) => number | undefined
  /** Whether the stream reads the list of the parent with an id: a shard does so for its own. All, unless given. */
  readonly owns?: (id: string) => boolean
}

/**
 * What readers of a stream need to know about it. Data only: the engine, the tables, the catalog, the docs and the
 * contract tests read it. What differs between streams is a value or a function here.
 */
export type Stream<S extends z.ZodObject = z.ZodObject> = {
  /** snake_case plural; names checkpoints, paths and the main table. A shard's has its number after a slash. */
  readonly name: string
  /** One sentence: what the records are, and when they change. */
  readonly doc: string
  readonly mode: SyncMode
  /** Incremental: whose lists these are. */
  readonly parent?: Parent
  /** Append: how long after its own time (`changedAt`) a record may still become visible, ms. Each scan reads that time again. */
  readonly lateMs?: number
  /** One record as its source has it. Columns and drift follow from it. */
  readonly schema: S
  /** The field that identifies a record, or the fields: strings that are not empty, or integers. The main table's key, in this order. */
  readonly primaryKey: FieldOf<S> | readonly [FieldOf<S>, FieldOf<S>, ...FieldOf<S>[]]
  /** Unix ms of a record's last change, where it says so: of two copies in one scan the later one wins. */
  readonly changedAt?: (record: { readonly [key: string]: unknown }) => number | undefined
  /** Paths whose values never leave the process (`customModels[].apiKey`, `extraHeaders.*`). */
  readonly secretPaths: readonly string[]
  /** Top-level maps whose keys are data, not field names: they say nothing about what is secret. */
  readonly dataMaps?: readonly string[]
  /** Fields that say who somebody is: an installation may hash or drop these, and any other. The docs name them. */
  readonly personal?: readonly string[]
  /**
   * Of records that are about one person each: the field that names them, and its column. Erasing the person takes the whole
   * record; of other records it takes what names them.
   */
  readonly about?: { readonly field: FieldOf<S>; readonly column: string }
  /** Where people and models write in a record; configuration says what is kept of it. */
  readonly writing?: Writing
  /** The warehouse tables this stream feeds; the first holds one row per record, the others hang off it. */
  readonly tables: readonly [Table, ...Table[]]
  /** Tables that an observer of the stream fills (sync/ports.ts): each row stands for itself, whatever the record is. */
  readonly observedTables?: readonly Table[]
}

/** Where somebody writes in a record: in every field but those that are named here, unknown ones too. */
export type Writing = {
  /** The field that says in which role it was written, and the roles there are. */
  readonly role: string
  readonly roles: readonly string[]
  /** Fields that identify the record. */
  readonly ids: readonly string[]
  /** Fields that say something about it. */
  readonly facts: readonly string[]
}

/** A stream that is a list of the platform: it says, too, how the list is read. */
export type PlatformStream<S extends z.ZodObject = z.ZodObject> = Stream<S> & { readonly reading: Reading }

/** Whether a stream is a list of the platform. */
export function isPlatformStream(stream: Stream): stream is PlatformStream {
  return 'reading' in stream
}

/** How the list of a stream is read. @throws TypeError for a stream that is no list of the platform: a mistake in the code. */
export function readingOf(stream: Stream): Reading {
  if (isPlatformStream(stream)) return stream.reading
  throw new TypeError(`${stream.name} is no list of the platform, so it can't be read from there.`)
}

/** How many records a page of a stream is asked for; null where it is no list that comes in pages. */
export function pageSizeOf(stream: Stream): number | null {
  return isPlatformStream(stream) ? stream.reading.pageSize : null
}

/** All tables that a stream feeds, the main one first. */
export function tablesOf({ tables, observedTables = [] }: Stream): readonly Table[] {
  return [...tables, ...observedTables]
}

/** Declares a stream; the primary key must be a field of the schema. The engine sees it without its record's type. */
export function defineStream<S extends z.ZodObject>(stream: Stream<S>): Stream {
  return stream as unknown as Stream
}

/** Declares a stream that is a list of the platform. */
export function definePlatformStream<S extends z.ZodObject>(stream: PlatformStream<S>): PlatformStream {
  return stream as unknown as PlatformStream
}
