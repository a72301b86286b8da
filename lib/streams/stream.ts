import type * as z from 'zod'
import type { Paging } from '../platform/paging.ts'
import type { Endpoint } from '../platform/transport.ts'
import type { Table } from './table.ts'

/** How a stream is kept in step. */
export type SyncMode = 'full_refresh' | 'append'

// Of the shape, not of the inferred type: an object that lets unknown keys pass would take any string.
type FieldOf<S extends z.ZodObject> = Extract<keyof S['shape'], string>

/**
 * Everything the worker knows about one collection of the platform. Data only: the engine, the tables, the catalog,
 * the docs and the contract tests read it. What differs between streams is a value or a function here.
 */
export type Stream<S extends z.ZodObject = z.ZodObject> = {
  /** snake_case plural; names checkpoints, paths and the main table. */
  readonly name: string
  /** One sentence: what the records are, and when they change. */
  readonly doc: string
  readonly mode?: SyncMode
  readonly lateMs?: number
  readonly endpoint: Endpoint
  readonly paging: Paging
  /** One record as the API sends it. */
  readonly schema: S
  /** The field that identifies a record: a string that is not empty, or an integer. */
  readonly primaryKey: FieldOf<S>
  /** Unix ms of a record's last change, where it says so: of two copies in one scan the later one wins. */
  readonly changedAt?: (record: { readonly [key: string]: unknown }) => number | undefined
  /** Paths whose values never leave the process (`customModels[].apiKey`, `extraHeaders.*`). */
  readonly secretPaths: readonly string[]
  /** Top-level maps whose keys are data, not field names: they say nothing about what is secret. */
  readonly dataMaps?: readonly string[]
  /** Paths of strings that are times, whose format is "not shown": one that can't be read is kept in `_extra`. */
  readonly timeStrings?: readonly string[]
  /** The warehouse tables this stream feeds; the first holds one row per record, the others hang off it. */
  readonly tables: readonly [Table<z.infer<S>>, ...Table<z.infer<S>>[]]
  /** Tables that an observer of the stream fills (sync/ports.ts): each row stands for itself, whatever the record is. */
  readonly observedTables?: readonly Table[]
}

/** All tables that a stream feeds, the main one first. */
export function tablesOf({ tables, observedTables = [] }: Stream): readonly Table[] {
  return [...tables, ...observedTables]
}

/** Declares a stream; the primary key must be a field of the schema. The engine sees it without its record's type. */
export function defineStream<S extends z.ZodObject>(stream: Stream<S>): Stream {
  return stream as unknown as Stream
}
