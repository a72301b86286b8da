import { createHmac } from 'node:crypto'
import { canonicalJson } from '../../core/canonical-json.ts'
import type { Json } from '../../core/json.ts'
import { hashedText, isHashed } from '../../core/stand-ins.ts'

/** Replaces a value by its length and a keyed fingerprint; what is hashed already stays. */
export type Hasher = (value: Json) => Json

/**
 * A hasher under `key`. Equal values have equal fingerprints wherever they stand, so that they can still be counted and
 * joined. They are no fingerprints of secrets: the two kinds of text are kept apart by what is hashed with them.
 */
export function createHasher(key: string | Uint8Array): Hasher {
  return (value) => {
    if (value === null || isHashed(value)) return value
    const text = typeof value === 'string' ? value : canonicalJson(value)
    const digits = createHmac('sha256', key).update('hashed\n').update(text).digest('hex').slice(0, 16)
    return hashedText({ digits, length: text.length })
  }
}
