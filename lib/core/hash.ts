import { hash } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import type { Json } from './json.ts'

/** SHA-256 of bytes or of a text's UTF-8 bytes, as 64 hex digits. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex')
}

/** SHA-256 of a text's UTF-8 bytes, as 32 bytes. Of a record's canonical JSON it is the content hash: see `contentHash`. */
export function sha256Bytes(text: string): Uint8Array {
  // By way of text, since a Buffer that node:crypto makes costs as much as the hash.
  return Buffer.from(hash('sha256', text, 'hex'), 'hex')
}

/**
 * The content hash of a record, as 64 hex digits: SHA-256 over its canonical JSON, unknown fields included. Strings must be well formed,
 * since every lone surrogate has the same UTF-8 bytes (see `repairText` in sync/validate.ts).
 */
export function contentHash(record: Json): string {
  return Buffer.from(sha256Bytes(canonicalJson(record))).toString('hex')
}
