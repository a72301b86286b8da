import { digestBytes } from '../core/keyed-digest.ts'
import type { Extracted } from '../streams/extract.ts'
import { hashBytes, type IndexEntry, type KeyTable } from './key-table.ts'
import type { ObservedRecord, QuarantinedRecord } from './ports.ts'

/** A new or changed record that waits to be written. */
export type RecordChange = {
  key: string
  hash: string
  body: string
  /** Its rows in each table of the stream. */
  rows: Extracted['rows']
}

/** What was read since the last flush. */
export type Buffered = {
  /** Unix ms at which the first record came in. */
  since: number
  received: number
  bytes: number
  /** By key, so that a newer copy replaces an older one. */
  changes: Map<string, RecordChange>
  quarantined: QuarantinedRecord[]
  /** Every record with a primary key, for the stream's observer; none without one. */
  observed: ObservedRecord[]
  /** Numbers of the keys that the pages touched, in the key table. */
  seen: number[]
  /** Keys that a complete scan did not see. */
  deletes: string[]
}

/** What one flush writes: a buffer that was handed over, with its keys as they stood then. */
export type Batch = Omit<Buffered, 'seen'> & { seen: IndexEntry[] }

/** A buffer that holds nothing. */
export function emptyBuffer(since: number): Buffered {
  return {
    since,
    received: 0,
    bytes: 0,
    changes: new Map(),
    quarantined: [],
    observed: [],
    seen: [],
    deletes: [],
  }
}

/** Copies of entries: one as it will be when the next page is taken in would call what is not durable known. */
export function copiedEntries(table: KeyTable, seen: readonly number[]): IndexEntry[] {
  // One piece of memory for all hashes: thousands of small ones are slow to make and to free.
  const hashes = new Uint8Array(seen.length * (hashBytes + digestBytes))
  let used = 0
  const copied = (bytes: Uint8Array): Uint8Array => {
    hashes.set(bytes, used)
    used += bytes.length
    return hashes.subarray(used - bytes.length, used)
  }
  return seen.map((at) => {
    const entry = table.entry(at)
    return { ...entry, hash: copied(entry.hash), bytes: copied(entry.bytes) }
  })
}
