import { digestBytes } from '../core/keyed-digest.ts'
import type { Extracted } from '../streams/extract.ts'
import { entryAt, hashBytes, type IndexEntry, type KeyTable, Kind } from './key-table.ts'
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
  /** How many of those were known by their bytes. */
  known: number
  bytes: number
  /** By key, so that a newer copy replaces an older one. */
  changes: Map<string, RecordChange>
  quarantined: QuarantinedRecord[]
  /** Every record with a primary key, for the stream's observer; none without one. */
  observed: ObservedRecord[]
  /** Numbers of the keys that the pages touched, in the key table. */
  seen: number[]
  /** Those among them whose content came in bytes that the index does not know. */
  renewed: Set<number>
  /** Keys that a complete scan did not see. */
  deletes: string[]
}

/** What one flush writes: a buffer that was handed over, with its keys as they stood then. */
export type Batch = Omit<Buffered, 'seen' | 'renewed'> & Seen

/** What a batch says of the keys that its pages touched: those that are as the index has them, and all others. */
export type Seen = { seen: IndexEntry[]; same: SameRun[] }

/** Keys that came as the index has them: so many in the order of the index, from one on, and the pass that saw them. */
export type SameRun = [start: number, count: number, pass: number]

/** A buffer that holds nothing. */
export function emptyBuffer(since: number): Buffered {
  return {
    since,
    received: 0,
    known: 0,
    bytes: 0,
    changes: new Map(),
    quarantined: [],
    observed: [],
    seen: [],
    renewed: new Set(),
    deletes: [],
  }
}

/**
 * What a buffer saw, with its keys as they stand. `indexed`: how many keys the index holds, the first of the table. Most
 * are as it has them, and a run of those is three numbers, whatever it counts.
 */
export function seenOf(table: KeyTable, { seen, renewed }: Buffered, indexed: number): Seen {
  const same: SameRun[] = []
  const others: number[] = []
  for (const at of seen) {
    if (at >= indexed || table.kind(at) !== Kind.unchanged || renewed.has(at)) others.push(at)
    else addTo(same, at, table.pass(at))
  }
  return { same, seen: copiedEntries(table, others) }
}

function addTo(runs: SameRun[], at: number, pass: number): void {
  const last = runs.at(-1)
  if (last && last[0] + last[1] === at && last[2] === pass) last[1] += 1
  else runs.push([at, 1, pass])
}

/** Copies of entries: one as it will be when the next page is taken in would call what is not durable known. */
function copiedEntries(table: KeyTable, seen: readonly number[]): IndexEntry[] {
  // One piece of memory for all hashes: thousands of small ones are slow to make and to free.
  const hashes = new Uint8Array(seen.length * (hashBytes + digestBytes))
  let used = 0
  const copied = (bytes: Uint8Array): Uint8Array => {
    hashes.set(bytes, used)
    used += bytes.length
    return hashes.subarray(used - bytes.length, used)
  }
  return seen.map((at) => {
    const entry = entryAt(table, at)
    return { ...entry, hash: copied(entry.hash), bytes: copied(entry.bytes) }
  })
}
