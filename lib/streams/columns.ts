import * as z from 'zod'
import { leafOf } from './leaves.ts'
import { coreOf, declaredBy, type FieldOf, fieldAt } from './schema-layers.ts'
import type { Column } from './table.ts'

/** A column that holds the field at a path of the schema. */
export type FieldColumn = Column & { readonly path: string }

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
export function columnsFrom<S extends z.ZodObject>(schema: S, layout: Layout<S> = {}): FieldColumn[] {
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

function flattened<S extends z.ZodObject>(schema: S, path: string, name: string): FieldColumn[] {
  const isObject = coreOf(fieldAt(schema, path)) instanceof z.ZodObject
  return isObject ? columnsInside(schema, path, `${name}_`) : [columnAt(schema, path, { name })]
}

function columnsInside<S extends z.ZodObject>(schema: S, path: string, prefix: string): FieldColumn[] {
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
): FieldColumn {
  const field = fieldAt(schema, path)
  const meaning = doc ?? declaredBy(field, ({ description }) => description)
  if (meaning === undefined) throw new TypeError(`The schema does not describe "${path}": add .describe() to it.`)
  return { name, type: leafOf(field)?.type ?? 'json', doc: meaning, path }
}

/** A column or table name for a path of the API: `tokenUsage.inputTokens` becomes token_usage_input_tokens. */
export function snakeCase(path: string): string {
  return path.replaceAll('.', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
