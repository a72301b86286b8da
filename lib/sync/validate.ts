import type * as z from 'zod'
import { isPlainObject } from '../core/canonical-json.ts'
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

/** The same value with U+FFFD for each half of a surrogate pair, in keys and in strings, at any depth. */
export function repairText(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(repairText)
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), repairText(inner)]))
}
