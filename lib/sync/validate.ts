import type * as z from 'zod'
import { canonicalJson, isPlainObject } from '../core/canonical-json.ts'
import type { Json } from '../core/json.ts'

const reasonsKept = 10

/**
 * Why a record can't be taken: each place that breaks the schema, without its value. Empty when it is valid.
 */
export function reasonsAgainst(schema: z.ZodType, record: Json, key: string | null): string[] {
  const result = schema.safeParse(record)
  const reasons = result.success
    ? []
    : result.error.issues.slice(0, reasonsKept).map(({ path, message }) => `${path.join('.') || 'record'}: ${message}`)
  if (key === null && reasons.length === 0) reasons.push('the primary key is empty, too long, or not exact')
  return reasons
}

// DynamoDB keys hold at most 2048 bytes, the stream's name included.
const keyBytesAllowed = 1_500

/** The primary key of a record: an exact integer, or a text that is neither empty nor too long. Null for anything else. */
export function keyOf(record: Json, field: string): string | null {
  const value = isPlainObject(record) ? record[field] : undefined
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  const usable = typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= keyBytesAllowed
  return usable ? value : null
}

/** A record with well-formed strings, and its canonical text. */
export function canonical(record: Json): { record: Json; text: string; repaired: boolean } {
  const text = canonicalJson(record)
  // JSON.stringify escapes half a surrogate pair; a whole one stands as it is.
  if (!text.includes('\\ud')) return { record, text, repaired: false }
  const whole = repairText(record)
  const wholeText = canonicalJson(whole)
  return { record: whole, text: wholeText, repaired: wholeText !== text }
}

/** The same value with U+FFFD for each half of a surrogate pair, in keys and in strings, at any depth. */
function repairText(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(repairText)
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), repairText(inner)]))
}
