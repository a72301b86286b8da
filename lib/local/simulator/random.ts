/**
 * Randomness as a function: the same numbers always give the same draw, so that any record of the simulator can be
 * made again at any time without having been kept.
 */

/** Mixes up to three integers into one of 32 bits. */
export function hash32(a: number, b: number, c = 0): number {
  let h =
    Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^
    Math.imul(b + 0x7f4a7c15, 0xc2b2ae35) ^
    Math.imul(c + 0x165667b1, 0x27d4eb2f)
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d)
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b)
  return (h ^ (h >>> 16)) >>> 0
}

/** A number from 0 up to but not including 1. */
export function unit(key: number, salt: number, turn = 0): number {
  return hash32(key, salt, turn) / 4_294_967_296
}

/** One of the items. */
export function pick<T>(items: readonly T[], draw: number): T {
  return items[draw % items.length] as T
}

const odd = 0x9e3779b1
const oddInverse = 0x0e8b2f51 // odd * oddInverse = 1 modulo 2^32; a test reads positions back

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0')
}

/** A UUID that carries a position: `positionOf` reads it back. */
export function uuidOf(key: number, position: number): string {
  const b = hex(hash32(key, position, 1))
  const c = hex(hash32(key, position, 2))
  const d = hex(hash32(key, position, 3))
  const first = hex(Math.imul(position ^ key, odd))
  return `${first}-${b.slice(0, 4)}-4${b.slice(5)}-8${c.slice(1, 4)}-${c.slice(4)}${d}`
}

/** The position a UUID of `uuidOf` was made for, or undefined when it is another one. */
export function positionOf(key: number, uuid: string): number | undefined {
  const first = Number.parseInt(uuid.slice(0, 8), 16)
  const position = ((Math.imul(first, oddInverse) ^ key) | 0) >>> 0
  return Number.isFinite(first) && uuidOf(key, position) === uuid ? position : undefined
}

/** A permutation of 0 to 2^bits - 1: multiplying by an odd number and folding the high bits in are both reversible. */
export function permute(key: number, bits: number, position: number): number {
  const mask = 2 ** bits - 1
  const fold = Math.max(1, bits >> 1)
  let x = position
  for (let round = 0; round < 3; round += 1) {
    x = (Math.imul(x + hash32(key, round), hash32(key, round, 1) | 1) & mask) >>> 0
    x ^= x >>> fold
  }
  return x
}
