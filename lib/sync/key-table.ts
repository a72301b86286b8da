import { release } from '../core/buffer.ts'
import { createByteDigests } from './byte-digests.ts'
import { createKeySet, grown, type KeySet } from './key-set.ts'

/** What happened to a key in the current scan. The numbers are stored in index objects: never reuse one. */
export const Kind = {
  /** Known from an earlier scan and not seen by this one (yet). */
  known: 0,
  unchanged: 1,
  inserted: 2,
  updated: 3,
  /** Known, and seen by this scan only in copies that no table can take: neither changed nor gone. */
  held: 4,
  /** Known, not seen by a complete scan, and tombstoned. */
  deleted: 5,
  /** Like known, and already missed by a suspect scan whose deletes were withheld. */
  missing: 6,
  /** Not known from any scan, but a dead attempt may have written it to the records table. */
  uncertain: 7,
  /** No record but a parent: its hash tells the state of it in which its list was last read to the end. */
  mark: 8,
} as const
export type Kind = (typeof Kind)[keyof typeof Kind]

/** Beside the kind of a key, in the same byte: whether its record is odd. */
export const odd = 0x80

/** Bytes of the content hash that are kept: 128 bits tell any two contents apart. */
export const hashBytes = 16

/** One key of the table, as index objects hold it. */
export type IndexEntry = {
  key: string
  /** The content hash, cut. */
  hash: Uint8Array
  /** The digest of the bytes that had this content last; zeros when it is not known. */
  bytes: Uint8Array
  changedAt: number
  kind: Kind
  isOdd: boolean
  pass: number
}

/**
 * The keys of a stream with hash, time of change, and what the scan did with each. It is the one structure whose size
 * grows with the stream, so its columns are typed arrays: about 80 bytes a key that is a UUID.
 */
export type KeyTable = KeySet & {
  hasHash(at: number, digest: Uint8Array): boolean
  /** Sets the content; which bytes have it is to be said anew. */
  setHash(at: number, digest: Uint8Array): void
  /** The key whose content came in bytes of this digest; -1 when there is none. */
  findBytes(digest: string): number
  hasBytes(at: number, digest: string): boolean
  /** Says which bytes had the content of a key last. */
  setBytes(at: number, digest: Uint8Array): void
  /** Forgets the content: no copy counts as unchanged. */
  clearHash(at: number): void
  kind(at: number): Kind
  /** The pass of this scan that saw the key last; 0 when none has. */
  pass(at: number): number
  mark(at: number, kind: Kind, pass: number): void
  /** Whether the record with this content has values that their columns can't take. */
  isOdd(at: number): boolean
  setOdd(at: number, isOdd: boolean): void
  /** Unix ms of the record's own time of change; NaN when it has none. */
  changedAt(at: number): number
  setChangedAt(at: number, changedAt: number): void
  /** Views that hold until the next key is added. */
  hash(at: number): Uint8Array
  bytes(at: number): Uint8Array
}

/** Every key of a table. One entry serves for all: it holds until the next, and reads of the table what is asked of it. */
export function* entriesOf(table: KeyTable): Generator<IndexEntry> {
  let at = 0
  const entry: IndexEntry = {
    get key() {
      return table.key(at)
    },
    get hash() {
      return table.hash(at)
    },
    get bytes() {
      return table.bytes(at)
    },
    get changedAt() {
      return table.changedAt(at)
    },
    get kind() {
      return table.kind(at)
    },
    get isOdd() {
      return table.isOdd(at)
    },
    get pass() {
      return table.pass(at)
    },
  }
  for (; at < table.size; at++) yield entry
}

/** An empty table. Where so many keys are expected, its columns need not grow to hold them. */
export function createKeyTable(expected = 0): KeyTable {
  const room = Math.max(1024, expected)
  const keys = createKeySet(room)
  const bytes = createByteDigests(room)
  let { hashes, times, kinds, passes } = columnsFor(room)
  /** Sets what is not known of a key that was just added. */
  const begun = (at: number) => {
    if (at === kinds.length)
      ({ hashes, times, kinds, passes } = columnsFor(grown(at), { hashes, times, kinds, passes }))
    times[at] = Number.NaN
    return at
  }

  return {
    get size() {
      return keys.size
    },
    find: keys.find,
    key: keys.key,
    add: (key) => begun(keys.add(key)),
    addBytes: (key) => begun(keys.addBytes(key)),
    hasHash: (at, digest) => isAt(hashes, at * hashBytes, digest),
    setHash: (at, digest) => {
      hashes.set(digest.length > hashBytes ? digest.subarray(0, hashBytes) : digest, at * hashBytes)
      bytes.clear(at)
    },
    findBytes: bytes.find,
    hasBytes: bytes.has,
    setBytes: bytes.set,
    clearHash: (at) => {
      hashes.fill(0, at * hashBytes, (at + 1) * hashBytes)
      bytes.clear(at)
    },
    kind: (at) => ((kinds[at] as number) & ~odd) as Kind,
    pass: (at) => passes[at] as number,
    mark: (at, kind, pass) => {
      kinds[at] = kind | ((kinds[at] as number) & odd)
      passes[at] = pass
    },
    isOdd: (at) => ((kinds[at] as number) & odd) !== 0,
    setOdd: (at, isOdd) => {
      kinds[at] = ((kinds[at] as number) & ~odd) | (isOdd ? odd : 0)
    },
    changedAt: (at) => times[at] as number,
    setChangedAt: (at, changedAt) => {
      times[at] = changedAt
    },
    hash: (at) => hashes.subarray(at * hashBytes, (at + 1) * hashBytes),
    bytes: bytes.at,
  }
}

/** One key of a table, its hash and its digest as views. */
export function entryAt(table: KeyTable, at: number): IndexEntry {
  return {
    key: table.key(at),
    hash: table.hash(at),
    bytes: table.bytes(at),
    changedAt: table.changedAt(at),
    kind: table.kind(at),
    isOdd: table.isOdd(at),
    pass: table.pass(at),
  }
}

function isAt(hashes: Uint8Array, start: number, digest: Uint8Array): boolean {
  for (let i = 0; i < hashBytes; i++) if (hashes[start + i] !== digest[i]) return false
  return true
}

type Columns = { hashes: Uint8Array; times: Float64Array; kinds: Uint8Array; passes: Uint8Array }

function columnsFor(keys: number, from?: Columns): Columns {
  const columns = {
    hashes: new Uint8Array(keys * hashBytes),
    times: new Float64Array(keys),
    kinds: new Uint8Array(keys),
    passes: new Uint8Array(keys),
  }
  if (from === undefined) return columns
  for (const name of ['hashes', 'times', 'kinds', 'passes'] as const) {
    columns[name].set(from[name])
    release(from[name])
  }
  return columns
}
