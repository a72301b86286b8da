import * as z from 'zod'
import { formOf, parseTime } from '../platform/fields.ts'
import { coreOf, declaredBy, type FieldOf, fieldAt } from './schema-layers.ts'
import type { Cell, Column, ColumnType } from './table.ts'

/** Where a field goes that does not simply follow its schema (`columnsFrom`). */
export type FieldLayout =
  /** In no column, since a nested table has it. */
  | 'left_out'
  /** An object whose fields are columns with this before their names; '' for their names alone. */
  | { readonly prefix: string }
  /**
   * In one column of this name, an object as JSON text. `doc` is for what the API's schema can't know. `picked` are
   * paths inside the object that are columns besides, named by the path alone.
   */
  | { readonly column: string; readonly doc?: string; readonly picked?: readonly string[] }

/** The layout of those fields of a schema that need one. */
export type Layout<S extends z.ZodObject = z.ZodObject> = { readonly [name in FieldOf<S>]?: FieldLayout }

/**
 * The columns of a schema's fields, in its order: name, type and meaning follow from the field. An object with declared
 * fields is a column for each of them, named by the path. A field that the schema gains is a column at once.
 * @throws TypeError for a field without a description, or the layout of no field: mistakes in the declaration.
 */
export function columnsFrom<S extends z.ZodObject>(schema: S, layout: Layout<S> = {}): Column<z.infer<S>>[] {
  const layouts = new Map<string, FieldLayout | undefined>(Object.entries(layout))
  for (const name of layouts.keys()) fieldAt(schema, name)
  return Object.keys(schema.shape).flatMap((name) => {
    const given = layouts.get(name)
    if (given === undefined) return flattened(schema, name, snakeCase(name))
    if (given === 'left_out') return []
    if ('prefix' in given) return columnsInside(schema, name, given.prefix)
    const { column, doc, picked = [] } = given
    const inside = picked.map((path) => columnAt(schema, `${name}.${path}`, { name: snakeCase(path) }))
    return [columnAt(schema, name, { name: column, doc }), ...inside]
  })
}

function flattened<S extends z.ZodObject>(schema: S, path: string, name: string): Column<z.infer<S>>[] {
  const isObject = coreOf(fieldAt(schema, path)) instanceof z.ZodObject
  return isObject ? columnsInside(schema, path, `${name}_`) : [columnAt(schema, path, { name })]
}

function columnsInside<S extends z.ZodObject>(schema: S, path: string, prefix: string): Column<z.infer<S>>[] {
  const object = coreOf(fieldAt(schema, path))
  if (!(object instanceof z.ZodObject)) throw new TypeError(`"${path}" has no fields that could be columns.`)
  return Object.keys(object.shape).flatMap((key) => flattened(schema, `${path}.${key}`, `${prefix}${snakeCase(key)}`))
}

/**
 * The column of one field by its path, whatever the field holds (an object is JSON text).
 * @throws TypeError when the schema has no such field or doesn't describe it: a mistake in the declaration.
 */
export function columnAt<S extends z.ZodObject>(
  schema: S,
  path: string,
  { name = snakeCase(path), doc }: { name?: string; doc?: string | undefined } = {},
): Column<z.infer<S>> {
  const field = fieldAt(schema, path)
  const meaning = doc ?? declaredBy(field, ({ description }) => description)
  if (meaning === undefined) throw new TypeError(`The schema does not describe "${path}": add .describe() to it.`)
  const read = readerOf(path)
  const toCell = converterOf(field)
  return { name, type: typeOf(field), doc: meaning, value: (record) => toCell(read(record)) }
}

/** A column or table name for a path of the API: `tokenUsage.inputTokens` becomes token_usage_input_tokens. */
export function snakeCase(path: string): string {
  return path.replaceAll('.', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function typeOf(schema: z.ZodType): ColumnType {
  const form = declaredBy(schema, formOf)
  if (form !== undefined) return form === 'json_text' ? 'json' : 'timestamp'
  const core = coreOf(schema)
  if (core instanceof z.ZodString || core instanceof z.ZodEnum) return 'string'
  if (core instanceof z.ZodNumber) return core.isInt ? 'int64' : 'double'
  if (core instanceof z.ZodBoolean) return 'boolean'
  return 'json'
}

type Keyed = { readonly [key: string]: unknown } | null | undefined

/** Reads what stands at a path, undefined where a part of it is missing. Compiled once: rows are built for a million records. */
export function readerOf(path: string): (record: unknown) => unknown {
  const [first = '', second, third, ...rest] = path.split('.')
  if (rest.length > 0) throw new TypeError(`A column reads at most three levels deep, and "${path}" is deeper.`)
  if (second === undefined) return (record) => (record as Keyed)?.[first]
  if (third === undefined) return (record) => ((record as Keyed)?.[first] as Keyed)?.[second]
  return (record) => (((record as Keyed)?.[first] as Keyed)?.[second] as Keyed)?.[third]
}

/** Makes a cell of a value that its schema took, for the type that `typeOf` says. */
function converterOf(schema: z.ZodType): (value: unknown) => Cell {
  const form = declaredBy(schema, formOf)
  if (form === 'time_text' || form === 'date_time') {
    return (value) => (typeof value === 'string' ? parseTime(value) : null)
  }
  if (form === undefined && typeOf(schema) === 'json') {
    return (value) => (value === null || value === undefined ? null : JSON.stringify(value))
  }
  return (value) => (value ?? null) as Cell
}
