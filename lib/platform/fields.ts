import * as z from 'zod'
// By itself, since a bundler takes all of z.core for one name in it.
import { $constructor } from 'zod/v4/core'
import { isRawNumber } from '../core/json.ts'
import { fieldsOnDemand } from '../core/schema.ts'
import { isPlausible, parseTime } from './times.ts'

/**
 * Building blocks of the resource schemas. They accept what the API leaves open: unknown keys pass, an optional field
 * may come as null, and an enumeration whose full list is "not shown" takes any string.
 */

// To zod a number that is kept as its digits (RawNumber) is an object. A check would see a copy of it, and cost each
// record a quarter of the time it takes to parse; a schema class of our own looks before anything is parsed.
function refusingDigits<T extends z.ZodType>(name: string, base: $constructor<T>) {
  return $constructor<T>(name, (schema, definition) => {
    const init: (schema: T, definition: never) => void = base.init
    init(schema, definition as never)
    const { parse } = schema._zod
    schema._zod.parse = (payload, context) => {
      if (!isRawNumber(payload.value)) return parse(payload, context)
      const message = "a number that a double can't hold stands where an object is expected"
      payload.issues.push({ code: 'custom', message, input: payload.value, inst: schema })
      return payload
    }
  })
}
const Resource = refusingDigits('Resource', z.ZodObject)
const FreeForm = refusingDigits('FreeForm', z.ZodRecord)

/** An object of the API. Keys that the API adds later stay in the record. Its fields are made when the first of them is needed. */
export function resource<S extends z.ZodRawShape>(fields: () => S) {
  return new Resource(fieldsOnDemand(fields, z.unknown())) as unknown as ReturnType<typeof z.looseObject<S>>
}

/** An object whose contents are "not shown" (§2.10): kept whole, whatever is in it. */
export function freeForm() {
  return new FreeForm(z.record(z.string(), z.unknown())._zod.def) as unknown as z.ZodRecord<z.ZodString, z.ZodUnknown>
}

/** An identifier: a string that is not empty. */
export function id() {
  return z.string().min(1)
}

/** A count or a size: an integer that a double holds exactly. */
export function integer() {
  return z.int()
}

/** What a value is where its kind alone doesn't say it: one of three ways to write a time, or JSON as text. */
export type Form = 'unix_ms' | 'date_time' | 'time_text' | 'json_text'

function inForm<S extends z.ZodType>(schema: S, form: Form): S {
  return schema.meta({ form })
}

/** The form that a schema declares for its values, if it declares one. */
export function formOf(schema: z.ZodType): Form | undefined {
  return schema.meta()?.form as Form | undefined
}

/** Unix milliseconds, in a plausible range. */
export function unixMs() {
  const message = 'is not a plausible time in Unix milliseconds (2000 to 2100); it may be in seconds'
  return inForm(z.int().refine(isPlausible, message), 'unix_ms')
}

/** A time as a string in date-time form (RFC 3339); without an offset it is read as UTC. */
export function dateTime() {
  const message = 'is not a date-time between the years 2000 and 2100'
  return inForm(
    z.string().refine((text) => parseTime(text) !== null, message),
    'date_time',
  )
}

/** A time as a string whose format is "not shown": any string is taken, and one that can't be read is kept as it came. */
export function timeText() {
  return inForm(z.string(), 'time_text')
}

/** A string that holds JSON. */
export function jsonText() {
  return inForm(z.string(), 'json_text')
}

/** A string whose known values are listed; others are kept, and counted as drift. */
export function openEnum<const V extends readonly string[]>(...known: V) {
  return z.string().meta({ knownValues: known })
}

/** The values that `openEnum` declared for a schema, if it is one. */
export function knownValuesOf(schema: z.ZodType): readonly string[] | undefined {
  return schema.meta()?.knownValues as readonly string[] | undefined
}
