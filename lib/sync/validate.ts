import * as z from 'zod'
import { canonicalJson, isPlainObject } from '../core/canonical-json.ts'
import type { Json } from '../core/json.ts'
import { levelsAllowed } from '../core/nesting.ts'
import { keyFieldsOf, keyText } from '../streams/keys.ts'
import { kindOf } from '../streams/leaves.ts'
import { coreOf, fieldAt } from '../streams/schema-layers.ts'
import type { Stream } from '../streams/stream.ts'

/** Why a record can't be taken whose nesting no function that calls itself could follow. */
export const tooDeep = `nested deeper than ${levelsAllowed} levels`

/** Why a record has no primary key that can be used, without any value of it. */
export function whyUnkeyed(record: Json, { schema, primaryKey }: Pick<Stream, 'schema' | 'primaryKey'>): string {
  if (!isPlainObject(record)) return `the record is ${kindOf(record)}, not an object`
  const fields = keyFieldsOf({ primaryKey })
  const missing = fields.find((field) => !Object.hasOwn(record, field))
  if (missing !== undefined) return `${missing}: the primary key is missing`
  const odd = fields.find((field) => valueReader(schema, field)(record[field] as Json) === null) ?? fields.join(', ')
  return `${odd}: the primary key is empty, too long, not exact, or of another type`
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
  const fields = keyFieldsOf({ primaryKey })
  const [first = ''] = fields
  const readFirst = valueReader(schema, first)
  const one: KeyReader = (record) =>
    isPlainObject(record) && Object.hasOwn(record, first) ? readFirst(record[first] as Json) : null
  return fields.length === 1 ? one : severalKey(fields.map((field) => [field, valueReader(schema, field)]))
}

type ValueReader = (value: Json) => string | null

function valueReader(schema: z.ZodObject, field: string): ValueReader {
  return coreOf(fieldAt(schema, field)) instanceof z.ZodNumber ? integerKey : textKey
}

function severalKey(fields: readonly (readonly [field: string, read: ValueReader])[]): KeyReader {
  return (record) => {
    if (!isPlainObject(record)) return null
    const values = fields.map(([field, read]) => (Object.hasOwn(record, field) ? read(record[field] as Json) : null))
    if (values.some((value) => value === null)) return null
    return textKey(keyText(values as string[]))
  }
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
