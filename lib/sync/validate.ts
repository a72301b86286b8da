import * as z from 'zod'
import { canonicalJson, isPlainObject } from '../core/canonical-json.ts'
import type { Json } from '../core/json.ts'
import { levelsAllowed } from '../core/nesting.ts'
import { kindOf } from '../streams/leaves.ts'
import { coreOf, fieldAt } from '../streams/schema-layers.ts'
import type { Stream } from '../streams/stream.ts'

/** Why a record can't be taken whose nesting no function that calls itself could follow. */
export const tooDeep = `nested deeper than ${levelsAllowed} levels`

/** Why a record has no primary key that can be used, without any value of it. */
export function whyUnkeyed(record: Json, { primaryKey }: Pick<Stream, 'primaryKey'>): string {
  if (!isPlainObject(record)) return `the record is ${kindOf(record)}, not an object`
  if (!Object.hasOwn(record, primaryKey)) return `${primaryKey}: the primary key is missing`
  return `${primaryKey}: the primary key is empty, too long, not exact, or of another type`
}

// DynamoDB keys hold at most 2048 bytes, the stream's name included.
const keyBytesAllowed = 1_500

/** Reads the primary key of a record: null for what has none that can be used. */
export type KeyReader = (record: Json) => string | null

/**
 * The key reader of a stream. A key is an exact integer, also one that came as text, or a text that is neither empty nor
 * too long, as the schema declares it. Of a record that names itself in the other type nobody knows if it is the same.
 */
export function keyReaderOf({ schema, primaryKey }: Pick<Stream, 'schema' | 'primaryKey'>): KeyReader {
  const read = coreOf(fieldAt(schema, primaryKey)) instanceof z.ZodNumber ? integerKey : textKey
  return (record) =>
    isPlainObject(record) && Object.hasOwn(record, primaryKey) ? read(record[primaryKey] as Json) : null
}

function integerKey(value: Json): string | null {
  const number = typeof value === 'string' && /^(?:0|-?[1-9]\d{0,15})$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(number) ? `${number as number}` : null
}

function textKey(value: Json): string | null {
  return typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= keyBytesAllowed ? value : null
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
