import * as z from 'zod'
import { isPlainObject } from '../core/canonical-json.ts'
import { isRawNumber, type Json } from '../core/json.ts'
import { formOf, knownValuesOf, parseTime } from '../platform/fields.ts'
import { coreOf, declaredBy } from './schema-layers.ts'
import type { Stream } from './stream.ts'

type JsonObject = { [key: string]: Json }

/**
 * What a record holds that its schema does not know. `extra` has the unknown fields at their place (elements of a list
 * by index: `{"tags":{"0":{"color":"red"}}}`) and times that can't be read; null when there are none. `drifted` is true
 * with any of these, and with a value outside an enumeration whose values are known.
 */
export type Drift = { readonly extra: JsonObject | null; readonly drifted: boolean }

/** Looks a valid record over. It holds no state between records. */
export type Inspector = (record: Json) => Drift

/** What is unknown in a value (undefined: nothing), and a note in `seen` when it drifted. */
type Visit = (value: Json, seen: Seen) => Json | undefined
type Seen = { drifted: boolean }

const nothing: Drift = { extra: null, drifted: false }

/**
 * Compiles the inspector of a stream once, since it runs for every new or changed record.
 * @throws TypeError for a kind of schema that it can't look through.
 */
export function inspectorOf({ schema }: Pick<Stream, 'schema'>): Inspector {
  const visit = visitOf(schema)!
  return (record) => {
    const seen = { drifted: false }
    const extra = visit(record, seen) as JsonObject | undefined
    if (extra !== undefined) return { extra, drifted: true }
    return seen.drifted ? { extra: null, drifted: true } : nothing
  }
}

/** How to look through a schema; undefined when nothing below it can be unknown. */
function visitOf(schema: z.ZodType): Visit | undefined {
  const core = coreOf(schema)
  if (core instanceof z.ZodObject) return objectVisit(core)
  if (core instanceof z.ZodRecord) return eachValue(visitOf(core.valueType as z.ZodType))
  if (core instanceof z.ZodArray) return eachElement(visitOf(core.element as z.ZodType))
  if (declaredBy(schema, formOf) === 'time_text') return unreadableTime
  const known = declaredBy(schema, knownValuesOf)
  if (known !== undefined) return outsideOf(new Set(known))
  if (leaves.some((kind) => core instanceof kind)) return undefined
  throw new TypeError(`Drift can't be found in a schema of type "${core.def.type}": teach streams/drift.ts about it.`)
}

const leaves = [z.ZodString, z.ZodNumber, z.ZodBoolean, z.ZodUnknown, z.ZodNever, z.ZodLiteral, z.ZodEnum] as const

function objectVisit(schema: z.ZodObject): Visit {
  const fields = new Map(Object.entries(schema.shape).map(([key, field]) => [key, visitOf(field as z.ZodType) ?? null]))
  return (value, seen) => {
    // The schema takes a number kept as its digits for an object without fields.
    if (!isPlainObject(value)) return isRawNumber(value) ? value : undefined
    let extra: JsonObject | undefined
    for (const key in value) {
      const visit = fields.get(key)
      if (visit === null) continue
      const inner = value[key] as Json
      const unknown = visit === undefined ? inner : visit(inner, seen)
      if (unknown !== undefined) extra = put(extra, key, unknown)
    }
    return extra
  }
}

function eachValue(visit: Visit | undefined): Visit | undefined {
  return (
    visit &&
    ((value, seen) => {
      if (!isPlainObject(value)) return undefined
      let extra: JsonObject | undefined
      for (const key in value) {
        const unknown = visit(value[key] as Json, seen)
        if (unknown !== undefined) extra = put(extra, key, unknown)
      }
      return extra
    })
  )
}

function eachElement(visit: Visit | undefined): Visit | undefined {
  return (
    visit &&
    ((value, seen) => {
      if (!Array.isArray(value)) return undefined
      let extra: JsonObject | undefined
      for (const [index, element] of value.entries()) {
        const unknown = visit(element, seen)
        if (unknown !== undefined) extra = put(extra, `${index}`, unknown)
      }
      return extra
    })
  )
}

const unreadableTime: Visit = (value) => (typeof value === 'string' && parseTime(value) === null ? value : undefined)

function outsideOf(known: ReadonlySet<string>): Visit {
  return (value, seen) => {
    if (typeof value === 'string' && !known.has(value)) seen.drifted = true
    return undefined
  }
}

// Without a prototype, so that a key named __proto__ is a key like any other.
function put(extra: JsonObject | undefined, key: string, value: Json): JsonObject {
  const target = extra ?? (Object.create(null) as JsonObject)
  target[key] = value
  return target
}
