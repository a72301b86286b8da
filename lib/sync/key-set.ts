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
  key(at: number): string
}

/** An empty set. */
export function createKeySet(): KeySet {
  let size = 0
  let bytes = Buffer.allocUnsafeSlow(64 * 1024)
  /** Where each key ends in `bytes`; it begins where the one before it ends. */
  let ends = new Uint32Array(1024)
  let hashes = new Uint32Array(1024)
  let slots = emptySlots(2048)

  const startOf = (at: number) => (at === 0 ? 0 : (ends[at - 1] as number))
  const key = (at: number) => bytes.toString('utf8', startOf(at), ends[at])
  const isAt = (at: number, wanted: string) => {
    const [start, end] = [startOf(at), ends[at] as number]
    if (end - start !== wanted.length) return end - start > wanted.length && key(at) === wanted
    for (let i = 0; i < wanted.length; i++) if (bytes[start + i] !== wanted.charCodeAt(i)) return false
    return true
  }
  /** The slot that holds the key, or the empty one where it would be. */
  const slotOf = (wanted: string, hash: number) => {
    let slot = hash & (slots.length - 1)
    for (; slots[slot] !== -1; slot = (slot + 1) & (slots.length - 1)) {
      const at = slots[slot] as number
      if (hashes[at] === hash && isAt(at, wanted)) break
    }
    return slot
  }
  const makeRoom = (length: number) => {
    if (size === ends.length) [ends, hashes] = [enlarged(ends), enlarged(hashes)]
    if (size * 2 >= slots.length) slots = refilled(emptySlots(slots.length * 2), hashes, size)
    const used = startOf(size)
    if (used + length <= bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(grown(bytes.length), used + length))
    bytes.copy(larger, 0, 0, used)
    bytes = larger
  }

  return {
    key,
    get size() {
      return size
    },
    find: (wanted) => slots[slotOf(wanted, hashOf(wanted))] as number,
    add: (added) => {
      makeRoom(Buffer.byteLength(added))
      const hash = hashOf(added)
      ends[size] = startOf(size) + bytes.write(added, startOf(size))
      hashes[size] = hash
      slots[slotOf(added, hash)] = size
      size += 1
      return size - 1
    },
  }
}

/** The next size of a column: twice what it is, but of a large one only a quarter more, since the old one is held meanwhile. */
export function grown(size: number): number {
  return size < large ? size * 2 : Math.ceil(size * 1.25)
}
const large = 256 * 1024

function emptySlots(count: number) {
  return new Int32Array(count).fill(-1)
}

function enlarged(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(grown(array.length))
  larger.set(array)
  return larger
}

function refilled(slots: Int32Array<ArrayBuffer>, hashes: Uint32Array, size: number) {
  for (let at = 0; at < size; at++) {
    let slot = (hashes[at] as number) & (slots.length - 1)
    while (slots[slot] !== -1) slot = (slot + 1) & (slots.length - 1)
    slots[slot] = at
  }
  return slots
}

/** FNV-1a over code units, its high bits mixed into the low ones that choose the slot. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
