import * as z from 'zod'
import { isPlainObject } from '../core/canonical-json.ts'
import type { Json } from '../core/json.ts'
import { knownValuesOf } from '../platform/fields.ts'
import { kindOf, leafOf } from './leaves.ts'
import { coreOf, declaredBy, isOptional } from './schema-layers.ts'
import type { Cell, Misfit } from './table.ts'

type JsonObject = { [key: string]: Json }

/** A row while it is read. */
export type OpenRow = { readonly cells: Cell[]; readonly misfits: Misfit[]; drifted: boolean }

/**
 * Reads a value into the cells of a row, and answers what of it is unknown (undefined: nothing): unknown fields at their
 * place, elements of a list by index (`{"tags":{"0":{"color":"red"}}}`). Of a value whose form was not foreseen the
 * columns stay null, and it is noted; where there is no column, since a JSON column holds it, it counts as drift.
 */
export type Visit = (value: Json, row: OpenRow) => Json | undefined

/** The number of a column by the path of its field. */
export type Places = ReadonlyMap<string, number>

/** A field as it is visited: where it stands, its column if it has one, and whether it or a field below it has one. */
type Place = { readonly path: string; readonly at: number | undefined; readonly hasColumns: boolean }

/**
 * The visit of a record's schema: type check, cells and drift in one walk, for every new or changed record. It is compiled
 * for the first of them: most processes see none of most streams.
 * @throws TypeError then, for a kind of schema that it can't look through.
 */
export function visitOf(schema: z.ZodObject, places: Places): Visit {
  let visit: Visit | undefined
  return (value, row) => {
    visit ??= objectVisit(schema, { path: '', at: undefined, hasColumns: true }, places)
    return visit(value, row)
  }
}

/** How to visit a field; undefined when nothing can be said of it. */
function fieldVisit(schema: z.ZodType, place: Place, places: Places): Visit | undefined {
  const core = coreOf(schema)
  if (core instanceof z.ZodObject) return objectVisit(core, place, places)
  if (core instanceof z.ZodRecord) return mapVisit(core, place, places)
  if (core instanceof z.ZodArray) return listVisit(core, place, places)
  if (leafOf(schema) !== undefined) return leafVisit(schema, place)
  if (anything.some((kind) => core instanceof kind)) return anyVisit(place)
  throw new TypeError(`A schema of type "${core.def.type}" can't be read: teach streams/visit.ts about it.`)
}

const anything = [z.ZodUnknown, z.ZodNever, z.ZodLiteral] as const

function leafVisit(schema: z.ZodType, place: Place): Visit {
  const { read, why } = leafOf(schema)!
  const { at } = place
  const knownValues = declaredBy(schema, knownValuesOf)
  const known = knownValues && new Set(knownValues)
  return (value, row) => {
    const cell = read(value)
    if (cell === undefined) note(row, place, { reason: why(value), value })
    else if (at !== undefined) row.cells[at] = cell
    if (known !== undefined && typeof cell === 'string' && !known.has(cell)) row.drifted = true
    return undefined
  }
}

function anyVisit({ at }: Place): Visit | undefined {
  if (at === undefined) return undefined
  return (value, row) => {
    row.cells[at] = JSON.stringify(value)
    return undefined
  }
}

type Field = { readonly visit: Visit | undefined; readonly place: Place; readonly isOptional: boolean }

function objectVisit(schema: z.ZodObject, place: Place, places: Places): Visit {
  const fields = new Map(
    Object.entries(schema.shape).map(([key, field]) => {
      const inner = placeAt(place.path === '' ? key : `${place.path}.${key}`, places)
      const visit = fieldVisit(field as z.ZodType, inner, places)
      return [key, { visit, place: inner, isOptional: isOptional(field as z.ZodType) } satisfies Field]
    }),
  )
  const required = [...fields].filter(([, { isOptional, place }]) => !isOptional && place.hasColumns)
  return (value, row) => {
    const object = objectFrom(value)
    if (object === undefined) return note(row, place, { reason: `is ${kindOf(value)}, not an object`, value })
    if (place.at !== undefined) row.cells[place.at] = JSON.stringify(object)
    for (const [key, field] of required) {
      if (!Object.hasOwn(object, key)) note(row, field.place, { reason: 'is missing', value: null })
    }
    return visitFields(object, fields, row)
  }
}

function visitFields(object: JsonObject, fields: ReadonlyMap<string, Field>, row: OpenRow): JsonObject | undefined {
  let extra: JsonObject | undefined
  for (const key in object) {
    const value = object[key] as Json
    const field = fields.get(key)
    if (field === undefined) extra = put(extra, key, value)
    else if (value === null) {
      if (!field.isOptional) note(row, field.place, { reason: 'is null', value })
    } else {
      const unknown = field.visit?.(value, row)
      if (unknown !== undefined) extra = put(extra, key, unknown)
    }
  }
  return extra
}

function mapVisit(schema: z.ZodRecord, place: Place, places: Places): Visit {
  const visit = fieldVisit(schema.valueType as z.ZodType, placeAt(`${place.path}.*`, places), places)
  return (value, row) => {
    const object = objectFrom(value)
    if (object === undefined) return note(row, place, { reason: `is ${kindOf(value)}, not an object`, value })
    if (place.at !== undefined) row.cells[place.at] = JSON.stringify(object)
    return visit && visitEach(Object.entries(object), visit, row)
  }
}

function listVisit(schema: z.ZodArray, place: Place, places: Places): Visit {
  const visit = fieldVisit(schema.element as z.ZodType, placeAt(`${place.path}[]`, places), places)
  return (value, row) => {
    const list = listFrom(value)
    if (list === undefined) return note(row, place, { reason: `is ${kindOf(value)}, not a list`, value })
    if (place.at !== undefined) row.cells[place.at] = JSON.stringify(list)
    return visit && visitEach(list.entries(), visit, row)
  }
}

function visitEach(entries: Iterable<[string | number, Json]>, visit: Visit, row: OpenRow): JsonObject | undefined {
  let extra: JsonObject | undefined
  for (const [key, value] of entries) {
    const unknown = value === null ? undefined : visit(value, row)
    if (unknown !== undefined) extra = put(extra, `${key}`, unknown)
  }
  return extra
}

/** The object that a value is; some languages write one without fields as an empty list. */
export function objectFrom(value: Json): JsonObject | undefined {
  if (isPlainObject(value)) return value
  return Array.isArray(value) && value.length === 0 ? {} : undefined
}

/** The list that a value is; some languages write one without elements as an empty object. */
export function listFrom(value: Json): Json[] | undefined {
  if (Array.isArray(value)) return value
  return isPlainObject(value) && Object.keys(value).length === 0 ? [] : undefined
}

function placeAt(path: string, places: Places): Place {
  const hasColumns = [...places.keys()].some((each) => each === path || each.startsWith(`${path}.`))
  return { path, at: places.get(path), hasColumns }
}

function note(
  row: OpenRow,
  { path, hasColumns }: Place,
  { reason, value }: { reason: string; value: Json },
): undefined {
  if (hasColumns) row.misfits.push({ field: path, counted: path, reason, value })
  else row.drifted = true
}

// Without a prototype, so that a key named __proto__ is a key like any other.
function put(extra: JsonObject | undefined, key: string, value: Json): JsonObject {
  const target = extra ?? (Object.create(null) as JsonObject)
  target[key] = value
  return target
}
