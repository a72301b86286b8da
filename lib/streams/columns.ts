import * as z from 'zod'
import { parseTime } from '../platform/fields.ts'
import { coreOf, layersOf } from './schema-layers.ts'
import type { Cell, Column, ColumnType } from './table.ts'

type FieldOptions = { name?: string; type?: ColumnType; doc?: string }

/**
 * The column of one field: meaning and type come from the schema, the name from the path (`user.email`: user_email),
 * unless they are given. A time is only known as one by `type: 'timestamp'`.
 * @throws TypeError when the schema has no such field or doesn't describe it: a mistake in the declaration.
 */
export function field<S extends z.ZodType>(schema: S, path: string, options: FieldOptions = {}): Column<z.infer<S>> {
  const found = fieldAt(schema, path)
  const type = options.type ?? typeOf(found)
  const doc = options.doc ?? descriptionOf(found)
  if (doc === undefined) throw new TypeError(`The schema does not describe "${path}": add .describe() to it.`)
  const read = reader(path.split('.'))
  const toCell = converter(found, type)
  // The unit of the API is not the column's: a timestamp is a time.
  const meaning = type === 'timestamp' ? doc.replace(', Unix milliseconds', '') : doc
  return { name: options.name ?? snakeCase(path), type, doc: meaning, value: (record) => toCell(read(record)) }
}

/** The same column, taken from a part of the row: how a nested table shows fields of its parent and of its element. */
export function within<Row, Part>(part: (row: Row) => Part, column: Column<Part>): Column<Row> {
  return {
    ...column,
    value: (row) => column.value(part(row)),
  }
}

/** A column or table name for a path of the API: `tokenUsage.inputTokens` becomes token_usage_input_tokens. */
export function snakeCase(path: string): string {
  return path.replaceAll('.', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The schema of a field by its path. @throws TypeError when there is none. */
export function fieldAt(schema: z.ZodType, path: string): z.ZodType {
  return path.split('.').reduce((parent, key) => {
    const core = coreOf(parent)
    const child = core instanceof z.ZodObject ? (core.shape[key] as z.ZodType | undefined) : undefined
    if (child === undefined) throw new TypeError(`The schema has no field "${path}".`)
    return child
  }, schema)
}

/** What the outermost description of a schema says. */
function descriptionOf(schema: z.ZodType): string | undefined {
  return layersOf(schema).find(({ description }) => description !== undefined)?.description
}

function typeOf(schema: z.ZodType): ColumnType {
  const core = coreOf(schema)
  if (core instanceof z.ZodString) return 'string'
  if (core instanceof z.ZodNumber) return core.isInt ? 'int64' : 'double'
  if (core instanceof z.ZodBoolean) return 'boolean'
  return 'json'
}

type Read = (record: unknown) => unknown
type Keyed = { readonly [key: string]: unknown } | null | undefined

// The path is split once, since rows are built for a million records.
function reader([first, second, third, ...rest]: string[]): Read {
  if (first === undefined || rest.length > 0) throw new TypeError('A column reads at most three levels deep.')
  if (second === undefined) return (record) => (record as Keyed)?.[first]
  if (third === undefined) return (record) => ((record as Keyed)?.[first] as Keyed)?.[second]
  return (record) => (((record as Keyed)?.[first] as Keyed)?.[second] as Keyed)?.[third]
}

function converter(schema: z.ZodType, type: ColumnType): (value: unknown) => Cell {
  if (type === 'json') return (value) => (value === null || value === undefined ? null : JSON.stringify(value))
  if (type === 'timestamp' && coreOf(schema) instanceof z.ZodString) {
    return (value) => (typeof value === 'string' ? parseTime(value) : null)
  }
  return (value) => (value ?? null) as Cell
}
