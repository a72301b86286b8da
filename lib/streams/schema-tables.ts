import * as z from 'zod'
import { columnAt, columnsFrom, type Layout, readerOf } from './columns.ts'
import { coreOf, type FieldOf, fieldAt } from './schema-layers.ts'
import { type Column, defineTable, type Table } from './table.ts'

type Described = { readonly name: string; readonly doc: string }

/** A table with a row per record, whose columns follow from the schema. `fields` says where that is not enough. */
export function recordTable<S extends z.ZodObject>(
  schema: S,
  { fields, ...table }: Described & { readonly key: readonly string[]; readonly fields?: Layout<S> },
): Table<z.infer<S>> {
  return defineTable({
    ...table,
    each: (record: z.infer<S>) => [record],
    columns: columnsFrom(schema, fields),
  })
}

type NestedTable<S extends z.ZodObject> = Described & {
  /** The field that identifies the parent record, and its column here. */
  readonly parentKey: { readonly field: FieldOf<S>; readonly column: string }
  /** The column that tells the elements of a record apart: the place in the list from 0, or the key in the map. */
  readonly elementKey: { readonly column: string; readonly doc: string }
  /** Where the fields of an element go, as for `recordTable`. */
  readonly fields?: Layout
  /** Fields of the parent that stand in each row, so that common questions need no join. */
  readonly parentFields?: readonly FieldOf<S>[]
}

/** An element of a list or map of a record. */
type Element<R> = { record: R; key: string | number; value: z.infer<z.ZodObject> }

/**
 * A table with a row per element of the list or map at a path of the record.
 * @throws TypeError when there is none whose elements are objects: a mistake in the declaration.
 */
export function nestedTable<S extends z.ZodObject>(
  schema: S,
  path: string,
  { name, doc, parentKey, elementKey, fields, parentFields = [] }: NestedTable<S>,
): Table<z.infer<S>> {
  type Row = Element<z.infer<S>>
  const { element, keyType, entriesOf } = collectionAt(schema, path)
  const collectionOf = readerOf(path)
  const ofParent = (column: Column<z.infer<S>>) => within(({ record }: Row) => record, column)
  return defineTable({
    name,
    doc,
    key: [parentKey.column, elementKey.column],
    each: (record: z.infer<S>): Row[] => {
      const collection = collectionOf(record) ?? []
      return Array.from(entriesOf(collection), ([key, value]) => ({ record, key, value }))
    },
    columns: [
      ofParent(columnAt(schema, parentKey.field, { name: parentKey.column })),
      { name: elementKey.column, doc: elementKey.doc, type: keyType, value: ({ key }: Row) => key },
      ...columnsFrom(element, fields).map((column) => within(({ value }: Row) => value, column)),
      ...parentFields.map((field) => ofParent(columnAt(schema, field))),
    ],
  })
}

type Collection = {
  element: z.ZodObject
  keyType: 'int64' | 'string'
  entriesOf: (collection: object) => Iterable<[key: string | number, value: z.infer<z.ZodObject>]>
}

/** The list or map at a path: the schema of its elements, and how they are keyed. */
function collectionAt(schema: z.ZodObject, path: string): Collection {
  const found = coreOf(fieldAt(schema, path))
  const inner = found instanceof z.ZodArray ? found.element : found instanceof z.ZodRecord ? found.valueType : undefined
  const element = inner && coreOf(inner as z.ZodType)
  if (!(element instanceof z.ZodObject)) throw new TypeError(`"${path}" is no list or map of objects, so no table.`)
  return found instanceof z.ZodArray
    ? { element, keyType: 'int64', entriesOf: (list) => (list as z.infer<z.ZodObject>[]).entries() }
    : { element, keyType: 'string', entriesOf: Object.entries }
}

/** The same column, taken from a part of the row. */
function within<Row, Part>(part: (row: Row) => Part, column: Column<Part>): Column<Row> {
  return {
    ...column,
    value: (row) => column.value(part(row)),
  }
}
