import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { sha256 } from '../../core/hash.ts'

/** The id of a public key: SHA-256 of its DER form (SubjectPublicKeyInfo), hex. */
export function keyIdOf(key: KeyObject): string {
  return sha256(key.export({ type: 'spki', format: 'der' }))
}

/** Reads a public key in PEM form; null when the text holds none. */
export function readPublicKey(pem: string | Uint8Array): KeyObject | null {
  try {
    return createPublicKey(Buffer.from(pem))
  } catch {
    return null
  }
}

/** Checks an ECDSA signature (SHA-256, DER) over bytes. A malformed one is wrong. */
export function isSignedBy(key: KeyObject, bytes: Uint8Array, signature: Uint8Array): boolean {
  try {
    return verify('sha256', bytes, { key, dsaEncoding: 'der' }, signature)
  } catch {
    return false
  }
}
