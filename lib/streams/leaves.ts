import * as z from 'zod'
import { isRawNumber, type Json } from '../core/json.ts'
import { type Form, formOf } from '../platform/fields.ts'
import { parseTime, wholeMs } from '../platform/times.ts'
import { coreOf, declaredBy } from './schema-layers.ts'
import type { Cell, ColumnType } from './table.ts'

/** How a field that holds a single value is read into its column. */
export type Leaf = {
  readonly type: ColumnType
  /** The cell of a value; undefined for a value of another form than declared. Nothing is made to fit. */
  readonly read: (value: Json) => Cell | undefined
  /** Why `read` did not take a value, without the value. */
  readonly why: (value: Json) => string
}

/** How a field is read; undefined for lists, objects, and what may be anything. */
export function leafOf(schema: z.ZodType): Leaf | undefined {
  const form = declaredBy(schema, formOf)
  if (form !== undefined) return forms[form]
  const core = coreOf(schema)
  if (core instanceof z.ZodEnum) return oneOf(new Set(core.options.map(String)))
  if (core instanceof z.ZodString) return text
  if (core instanceof z.ZodNumber) return core.isInt ? integer(core.minValue) : double(core.minValue)
  return core instanceof z.ZodBoolean ? flag : undefined
}

/** What kind of value it is, in words. */
export function kindOf(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return 'a text'
  if (typeof value === 'boolean') return 'true or false'
  return typeof value === 'number' || isRawNumber(value) ? 'a number' : 'an object'
}

/** The number that a value is, the nearest double for one kept as its digits; undefined for what is no number. */
function numberOf(value: Json): number | undefined {
  if (typeof value === 'number') return value
  return isRawNumber(value) ? Number(value.rawJSON) : undefined
}

const text: Leaf = {
  type: 'string',
  read: (value) => (typeof value === 'string' ? value : undefined),
  why: (value) => `is ${kindOf(value)}, not a text`,
}

function oneOf(options: ReadonlySet<string>): Leaf {
  return {
    type: 'string',
    read: (value) => (typeof value === 'string' && options.has(value) ? value : undefined),
    why: (value) => (typeof value === 'string' ? 'is none of the known values' : text.why(value)),
  }
}

const flag: Leaf = {
  type: 'boolean',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
  why: (value) => `is ${kindOf(value)}, not true or false`,
}

function integer(least: number | null): Leaf {
  const lowest = least ?? Number.NEGATIVE_INFINITY
  return {
    type: 'int64',
    // Adding 0 makes -0 a 0.
    read: (value) => (Number.isSafeInteger(value) && (value as number) >= lowest ? (value as number) + 0 : undefined),
    why: (value) => {
      const number = numberOf(value)
      if (number === undefined) return `is ${kindOf(value)}, not a whole number`
      return Number.isSafeInteger(number) && number < lowest ? `is below ${lowest}` : 'is no exact whole number'
    },
  }
}

function double(least: number | null): Leaf {
  const lowest = least ?? Number.NEGATIVE_INFINITY
  return {
    type: 'double',
    read: (value) => {
      const number = numberOf(value)
      return number !== undefined && Number.isFinite(number) && number >= lowest ? number + 0 : undefined
    },
    why: (value) => {
      const number = numberOf(value)
      if (number === undefined) return `is ${kindOf(value)}, not a number`
      return Number.isFinite(number) ? `is below ${lowest}` : 'is a number beyond the range of a double'
    },
  }
}

// The year 1 is the zero of a time in some languages, 1970 in others.
const notSet = new Set([0, -62_135_596_800_000, -62_135_596_800])
const textNotSet = /^(?:0001-01-01|1970-01-01|0?$)/
const zero = 'stands for a time that is not set'

const unixMs: Leaf = {
  type: 'timestamp',
  read: (value) => {
    const ms = numberOf(value)
    return ms === undefined ? undefined : (wholeMs(ms) ?? undefined)
  },
  why: (value) => {
    const ms = numberOf(value)
    if (ms === undefined) return value === '' ? zero : `is ${kindOf(value)}, not a time in Unix milliseconds`
    return notSet.has(ms) ? zero : 'is no plausible time in Unix milliseconds (2000 to 2100); it may be in seconds'
  },
}

const timeAsText: Leaf = {
  type: 'timestamp',
  read: (value) => (typeof value === 'string' ? (parseTime(value) ?? undefined) : undefined),
  why: (value) => {
    if (typeof value !== 'string') return `is ${kindOf(value)}, not a time as text`
    return textNotSet.test(value) ? zero : 'is no time between 2000 and 2100 that can be read'
  },
}

const forms: Readonly<Record<Form, Leaf>> = {
  unix_ms: unixMs,
  date_time: timeAsText,
  time_text: timeAsText,
  json_text: { ...text, type: 'json' },
}
