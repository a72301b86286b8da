import { hash } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import type { Json } from './json.ts'

/** SHA-256 of bytes or of a text's UTF-8 bytes, as 64 hex digits. */
export const sha256 = (data: string | Uint8Array): string => hash('sha256', data, 'hex')

/** SHA-256 of a text's UTF-8 bytes, as 32 bytes. */
export const sha256Bytes = (text: string): Uint8Array => hash('sha256', text, 'buffer')

/**
 * The content hash of a record: SHA-256 over its canonical JSON, unknown fields included. Strings must be well formed,
 * since every lone surrogate has the same UTF-8 bytes (see `repairText` in sync/validate.ts).
 */
export const contentHash = (record: Json): string => sha256(canonicalJson(record))
