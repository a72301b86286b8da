import { hash } from 'node:crypto'

/** Names bytes by a digest: 16 characters, each of which stands for a byte. */
export type KeyedDigest = (bytes: Buffer, start: number, end: number) => string

/** Bytes of a digest. With a key that nobody has who could choose the bytes, 128 bits are more than enough. */
export const digestBytes = 16

/**
 * Digests of bytes under a key: SHA-256 over key and bytes, cut to half. Without the key nobody can try what the bytes
 * may have been, and being cut it can't be gone on from. HMAC is the same promise at three times the cost.
 */
export function createKeyedDigest(key: Uint8Array): KeyedDigest {
  let room = roomFor(key, 16 * 1024)
  return (bytes, start, end) => {
    const size = key.length + end - start
    if (size > room.length) room = roomFor(key, size * 2)
    bytes.copy(room, key.length, start, end)
    // As text: a Buffer for each digest costs as much as the digest.
    return hash('sha256', room.subarray(0, size), 'binary').slice(0, digestBytes)
  }
}

function roomFor(key: Uint8Array, size: number): Buffer {
  const room = Buffer.allocUnsafeSlow(size)
  room.set(key)
  return room
}
