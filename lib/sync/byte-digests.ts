import { release } from '../core/buffer.ts'
import { digestBytes } from '../core/keyed-digest.ts'
import { grown } from './key-set.ts'

/** The digest of the bytes in which each key's record came last, found by the digest. Zeros stand for none. */
export type ByteDigests = {
  /** The key whose record came in bytes of this digest; -1 when there is none. */
  find(digest: string): number
  has(at: number, digest: string): boolean
  set(at: number, digest: Uint8Array): void
  clear(at: number): void
  /** A view that holds until the next key is added. */
  at(at: number): Uint8Array
}

/** No digest of any key, with room for those of so many. */
export function createByteDigests(room: number): ByteDigests {
  let digests = new Uint8Array(room * digestBytes)
  /** One more than the highest key that has a digest. */
  let end = 0
  let slots: Slots | null = null
  // A list mostly comes in the order in which its keys became known: then nothing need be searched.
  let next = 0
  const has = (at: number, digest: string) => at < end && isAt(digests, at * digestBytes, digest)

  return {
    has,
    find: (digest) => {
      let at = next
      if (!has(at, digest)) {
        slots ??= slotsOf(digests, end)
        at = search(slots, digests, digest)
      }
      if (at >= 0) next = at + 1
      return at
    },
    set: (at, digest) => {
      if ((at + 1) * digestBytes > digests.length) digests = enlarged(digests, (at + 1) * digestBytes)
      digests.set(digest, at * digestBytes)
      end = Math.max(end, at + 1)
      // What a key had before stays in the slots, and matches nothing there.
      if (slots === null || enter(slots, digests, at)) return
      release(slots.at)
      slots = null
    },
    clear: (at) => {
      if (at < end) digests.fill(0, at * digestBytes, (at + 1) * digestBytes)
    },
    at: (at) => (at < end ? digests.subarray(at * digestBytes, (at + 1) * digestBytes) : none),
  }
}

/** The digest of a record whose bytes are not known. */
export const none: Uint8Array = new Uint8Array(digestBytes)

/** Keys by their digest, in open addressing; -1 is an empty slot. */
type Slots = { readonly at: Int32Array; taken: number }

function slotsOf(digests: Uint8Array, end: number): Slots {
  let size = 2048
  while (size < end * 2.5) size *= 2
  const slots = { at: new Int32Array(size).fill(-1), taken: 0 }
  for (let at = 0; at < end; at++) enter(slots, digests, at)
  return slots
}

/** Enters a key; false when there is no room for another. */
function enter(slots: Slots, digests: Uint8Array, key: number): boolean {
  const hash = hashAt(digests, key * digestBytes)
  if (hash === 0) return true
  const mask = slots.at.length - 1
  let slot = hash & mask
  while (slots.at[slot] !== -1) slot = (slot + 1) & mask
  slots.at[slot] = key
  slots.taken += 1
  return slots.taken * 2 < slots.at.length
}

function search(slots: Slots, digests: Uint8Array, digest: string): number {
  const mask = slots.at.length - 1
  for (let slot = hashOf(digest) & mask; slots.at[slot] !== -1; slot = (slot + 1) & mask) {
    const key = slots.at[slot] as number
    if (isAt(digests, key * digestBytes, digest)) return key
  }
  return -1
}

function isAt(digests: Uint8Array, start: number, digest: string): boolean {
  for (let i = 0; i < digestBytes; i++) if (digests[start + i] !== digest.charCodeAt(i)) return false
  return true
}

/** A digest's own beginning is as good a hash as any; 0 would stand for none, and is as rare as one in four billion. */
function hashAt(digests: Uint8Array, start: number): number {
  return (
    (digests[start] as number) |
    ((digests[start + 1] as number) << 8) |
    ((digests[start + 2] as number) << 16) |
    ((digests[start + 3] as number) << 24)
  )
}

function hashOf(digest: string): number {
  return (
    digest.charCodeAt(0) | (digest.charCodeAt(1) << 8) | (digest.charCodeAt(2) << 16) | (digest.charCodeAt(3) << 24)
  )
}

function enlarged(digests: Uint8Array, needed: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(grown(digests.length), needed))
  larger.set(digests)
  release(digests)
  return larger
}
