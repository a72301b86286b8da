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

/**
 * The forms of a signature. With (r, s) also (r, order - s) proves the same, so that whoever holds one can make the other
 * without the key. Of the two only the one with the lower s is written: then no byte of a signature can be changed unseen.
 */
export type SignatureForm = 'low-s' | 'high-s'

/** The form in which signatures are written. Digests say so, since older ones have either. */
export const writtenForm = 'low-s' satisfies SignatureForm

type Pair = { r: bigint; s: bigint }

/** The order of the curve P-256. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

function formOf({ s }: Pair): SignatureForm {
  return s > order / 2n ? 'high-s' : 'low-s'
}

/**
 * The form of an ECDSA signature (SHA-256, DER) over bytes; null when it is none by this key. Other encodings of the same
 * two numbers are no signatures here.
 */
export function signatureFormOf(key: KeyObject, bytes: Uint8Array, signature: Uint8Array): SignatureForm | null {
  const pair = readPair(signature)
  return pair && isRight(key, bytes, signature) ? formOf(pair) : null
}

function isRight(key: KeyObject, bytes: Uint8Array, signature: Uint8Array): boolean {
  try {
    return verify('sha256', bytes, { key, dsaEncoding: 'der' }, signature)
  } catch {
    return false
  }
}

/** The same signature (DER) with the lower s, as a signer must answer it. @throws TypeError when the bytes are no signature. */
export function withLowS(signature: Uint8Array): Uint8Array {
  const pair = readPair(signature)
  if (!pair) throw new TypeError('this is no ECDSA signature in DER')
  return formOf(pair) === 'low-s' ? signature : writePair({ r: pair.r, s: order - pair.s })
}

/** The two numbers of a signature; null unless they are encoded as `writePair` does. */
function readPair(der: Uint8Array): Pair | null {
  const r = readInteger(der, 2)
  const s = r && readInteger(der, r.end)
  if (!s) return null
  const pair = { r: r.value, s: s.value }
  return writePair(pair).equals(der) ? pair : null
}

function readInteger(der: Uint8Array, at: number): { value: bigint; end: number } | null {
  const end = at + 2 + (der[at + 1] ?? 0)
  const digits = Buffer.from(der.subarray(at + 2, end)).toString('hex')
  return digits === '' ? null : { value: BigInt(`0x${digits}`), end }
}

function writePair({ r, s }: Pair): Buffer {
  const integers = [...writeInteger(r), ...writeInteger(s)]
  return Buffer.from([0x30, integers.length, ...integers])
}

/** A leading zero keeps a number positive whose first bit is set. */
function writeInteger(value: bigint): number[] {
  const hex = value.toString(16)
  const bytes = [...Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')]
  const positive = (bytes[0] ?? 0) > 0x7f ? [0, ...bytes] : bytes
  return [0x02, positive.length, ...positive]
}
