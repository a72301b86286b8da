import { release } from '../core/buffer.ts'
import { packKey, unpackKey } from './packed-key.ts'

/**
 * Strings with numbers, in the order they were added. A Map of a million keys costs three times their bytes and is
 * walked by each garbage collection; here all keys are one buffer, found by open addressing.
 */
export type KeySet = {
  readonly size: number
  /** The number of a key, or -1. Keys are well-formed text: two that differ only in halves of pairs would be one. */
  find(key: string): number
  /** Adds a key that is not there, and gives it the next number. */
  add(key: string): number
  /** Adds a key that stands in UTF-8. */
  addBytes(key: Uint8Array): number
  key(at: number): string
}

/** Room for a key as long as nobody knows how long they are: a UUID takes 17 bytes. */
const bytesPerKey = 20

/** An empty set with room for so many keys. */
export function createKeySet(room: number): KeySet {
  let size = 0
  let bytes = Buffer.allocUnsafeSlow(room * bytesPerKey)
  /** Where each key ends in `bytes`; it begins where the one before it ends. */
  let ends = new Uint32Array(room)
  /** Made when a key is first looked for: a scan that knows all records by their bytes looks for none. */
  let slots: Slots | null = null

  const startOf = (at: number) => (at === 0 ? 0 : (ends[at - 1] as number))
  const key = (at: number) => unpackKey(bytes, startOf(at), ends[at] as number)
  const makeRoom = (length: number) => {
    if (size === ends.length) ends = enlarged(ends)
    const used = startOf(size)
    if (used + length <= bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(grown(bytes.length), used + length))
    bytes.copy(larger, 0, 0, used)
    release(bytes)
    bytes = larger
  }
  /** Takes the key that stands behind the others now, so many bytes long. */
  const added = (length: number) => {
    ends[size] = packKey(bytes, startOf(size), startOf(size) + length)
    size += 1
    return size - 1
  }

  return {
    key,
    get size() {
      return size
    },
    find: (wanted) => {
      slots ??= slotsOf(size, key)
      return search(slots, hashOf(wanted), (at) => key(at) === wanted)
    },
    add: (text) => {
      makeRoom(Buffer.byteLength(text))
      if (slots !== null) enter(slots, hashOf(text))
      return added(bytes.write(text, startOf(size)))
    },
    addBytes: (utf8) => {
      makeRoom(utf8.length)
      bytes.set(utf8, startOf(size))
      slots = null
      return added(utf8.length)
    },
  }
}

/** The next size of a column: twice what it is, but of a large one only a quarter more, since the old one is held meanwhile. */
export function grown(size: number): number {
  return size < large ? size * 2 : Math.ceil(size * 1.25)
}
const large = 256 * 1024

/** Numbers of keys by hash, in open addressing, and the hash of each key; -1 is an empty slot. */
type Slots = { at: Int32Array; hashes: Uint32Array; size: number }

function slotsOf(keys: number, key: (at: number) => string): Slots {
  let length = 2048
  while (length < keys * 2) length *= 2
  const slots = { at: emptySlots(length), hashes: new Uint32Array(Math.max(keys, 1024)), size: 0 }
  for (let at = 0; at < keys; at++) enter(slots, hashOf(key(at)))
  return slots
}

function search({ at: numbers, hashes }: Slots, hash: number, isWanted: (at: number) => boolean): number {
  const mask = numbers.length - 1
  for (let slot = hash & mask; numbers[slot] !== -1; slot = (slot + 1) & mask) {
    const at = numbers[slot] as number
    if (hashes[at] === hash && isWanted(at)) return at
  }
  return -1
}

/** Enters the hash of the next key. */
function enter(slots: Slots, hash: number): void {
  if (slots.size === slots.hashes.length) slots.hashes = enlarged(slots.hashes)
  slots.hashes[slots.size] = hash
  slots.size += 1
  if (slots.size * 2 <= slots.at.length) fill(slots, slots.size - 1)
  else {
    const larger = emptySlots(slots.at.length * 2)
    release(slots.at)
    slots.at = larger
    for (let at = 0; at < slots.size; at++) fill(slots, at)
  }
}

function fill({ at: numbers, hashes }: Slots, key: number): void {
  const mask = numbers.length - 1
  let slot = (hashes[key] as number) & mask
  while (numbers[slot] !== -1) slot = (slot + 1) & mask
  numbers[slot] = key
}

function emptySlots(count: number) {
  return new Int32Array(count).fill(-1)
}

function enlarged(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(grown(array.length))
  larger.set(array)
  release(array)
  return larger
}

/** FNV-1a over code units, its high bits mixed into the low ones that choose the slot. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
