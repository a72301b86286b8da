import * as z from 'zod'
import { isPlainObject } from '../core/canonical-json.ts'
import type { Json } from '../core/json.ts'
import { columnAt, columnsFrom, type FieldColumn, type Layout } from './columns.ts'
import { keyParts } from './keys.ts'
import { kindOf, leafOf } from './leaves.ts'
import { coreOf, type FieldOf, fieldAt, isOptional } from './schema-layers.ts'
import {
  type Cell,
  type Column,
  keyCell,
  type Misfit,
  type Table,
  type TableReading,
  type TableRow,
  tableOnDemand,
} from './table.ts'
import { listFrom, type OpenRow, objectFrom, type Visit, visitOf } from './visit.ts'

type Described = { readonly name: string; readonly doc: string }

/** A table with a row per record, whose columns follow from the schema. `fields` says where that is not enough. */
export function recordTable<S extends z.ZodObject>(
  schema: S,
  { fields, ...table }: Described & { readonly key: readonly string[]; readonly fields?: Layout<S> },
): Table {
  return tableOnDemand(table, () => {
    const columns = columnsFrom(schema, fields)
    const visit = visitOf(schema, placesOf(columns, 0))
    const keysAt = table.key.map((keyName) => columns.findIndex(({ name }) => name === keyName))
    const read = (record: Json, key?: string): TableReading => {
      const row = openRow(columns.length)
      const extra = visit(record, row)
      if (key !== undefined) {
        const values = keyParts(key, keysAt.length)
        for (const [i, at] of keysAt.entries()) row.cells[at] = keyCell(values[i]!, columns[at]!)
      }
      return { rows: [closed(row, extra)], misfits: row.misfits, drifted: row.drifted }
    }
    return { columns, read }
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

/**
 * A table with a row per element of the list or map at a path of the record. An element that is no object costs its row.
 * Looking into it throws a TypeError when there is none whose elements are objects: a mistake in the declaration.
 */
export function nestedTable<S extends z.ZodObject>(schema: S, path: string, declared: NestedTable<S>): Table {
  const { name, doc, parentKey, elementKey } = declared
  const key = [parentKey.column, elementKey.column]
  return tableOnDemand({ name, doc, key }, () => nestedReading(schema, path, declared))
}

function nestedReading<S extends z.ZodObject>(
  schema: S,
  path: string,
  { parentKey, elementKey, fields, parentFields = [] }: NestedTable<S>,
): Pick<Table, 'columns' | 'read'> {
  const collection = collectionAt(schema, path)
  const { keyType } = collection
  const parent = columnAt(schema, parentKey.field, { name: parentKey.column })
  const own = columnsFrom(collection.element, fields)
  const copied = parentFields.map((field) => columnAt(schema, field))
  const columns = [parent, { name: elementKey.column, doc: elementKey.doc, type: keyType }, ...own, ...copied]
  const visit = visitOf(collection.element, placesOf(own, 2))
  const parentCells = copied.map((column) => cellReader(schema, column))
  const parentCell = cellReader(schema, parent)
  const cellsOf = (record: Json, key: string | undefined) => ({
    first: key === undefined ? parentCell(record) : keyCell(key, parent),
    last: parentCells.map((read) => read(record)),
  })
  const collectionOf = readerOf(path)
  const absent = absentReader(schema, path)
  const read = (record: Json, key?: string): TableReading => {
    const found = collectionOf(record)
    if (found === undefined || found === null) return absent(record, found)
    const entries = collection.entriesOf(found)
    const wanted = keyType === 'int64' ? 'a list' : 'an object'
    if (entries === undefined) return without(path, `is ${kindOf(found)}, not ${wanted}`, found)
    return readElements(entries, { visit, collection, path, size: columns.length, ...cellsOf(record, key) })
  }
  return { columns: columns satisfies Column[], read }
}

const nothing: TableReading = { rows: [], misfits: [], drifted: false }

type Reading = {
  visit: Visit
  collection: Collection
  path: string
  size: number
  first: Cell
  last: readonly Cell[]
}

function readElements(entries: Iterable<[string | number, Json]>, reading: Reading): TableReading {
  const { visit, collection, path, size, first, last } = reading
  const rows: TableRow[] = []
  const misfits: Misfit[] = []
  const counted = `${path}${collection.anyKey}`
  let drifted = false
  for (const [key, value] of entries) {
    const element = objectFrom(value)
    if (element === undefined) {
      const field = `${path}${collection.placeOf(key)}`
      misfits.push({ field, counted, reason: `is ${kindOf(value)}, not an object`, value })
      continue
    }
    const row = openRow(size)
    const extra = visit(element, row)
    row.cells[0] = first
    row.cells[1] = key
    for (let i = 0; i < last.length; i++) row.cells[size - last.length + i] = last[i] as Cell
    rows.push(closed(row, extra))
    drifted ||= row.drifted
    if (row.misfits.length > 0)
      misfits.push(...seenFrom(row.misfits, { field: `${path}${collection.placeOf(key)}`, counted }))
  }
  return { rows, misfits, drifted }
}

/** An element's misfits as its record names them. */
function seenFrom(misfits: readonly Misfit[], { field, counted }: Pick<Misfit, 'field' | 'counted'>): Misfit[] {
  return misfits.map((each) => ({
    ...each,
    field: `${field}.${each.field}`,
    counted: `${counted}.${each.counted}`,
  }))
}

/** Says of a collection that must be there that it is not, unless what it stands in is missing as well. */
function absentReader(schema: z.ZodObject, path: string) {
  if (isOptional(fieldAt(schema, path))) return () => nothing
  const above = path.split('.').slice(0, -1).join('.')
  const parentOf = above === '' ? (record: Json) => record : readerOf(above)
  return (record: Json, found: null | undefined): TableReading => {
    if (!isPlainObject(parentOf(record))) return nothing
    return without(path, found === null ? 'is null' : 'is missing', null)
  }
}

/** No rows, since the collection is none. */
function without(path: string, reason: string, value: Json): TableReading {
  return { ...nothing, misfits: [{ field: path, counted: path, reason, value }] }
}

type Collection = {
  element: z.ZodObject
  keyType: 'int64' | 'string'
  /** The place of an element after the path of its collection, and of any. */
  placeOf: (key: string | number) => string
  anyKey: string
  /** Undefined for what is no such collection. */
  entriesOf: (collection: Json) => Iterable<[key: string | number, value: Json]> | undefined
}

/** The list or map at a path: the schema of its elements, and how they are keyed. */
function collectionAt(schema: z.ZodObject, path: string): Collection {
  const found = coreOf(fieldAt(schema, path))
  const inner = found instanceof z.ZodArray ? found.element : found instanceof z.ZodRecord ? found.valueType : undefined
  const element = inner && coreOf(inner as z.ZodType)
  if (!(element instanceof z.ZodObject)) throw new TypeError(`"${path}" is no list or map of objects, so no table.`)
  if (found instanceof z.ZodArray) {
    const entriesOf: Collection['entriesOf'] = (value) => listFrom(value)?.entries()
    return { element, keyType: 'int64', placeOf: (key) => `[${key}]`, anyKey: '[]', entriesOf }
  }
  const entriesOf: Collection['entriesOf'] = (value) => {
    const object = objectFrom(value)
    return object && Object.entries(object)
  }
  return { element, keyType: 'string', placeOf: (key) => `.${key}`, anyKey: '.*', entriesOf }
}

function placesOf(columns: readonly FieldColumn[], first: number): Map<string, number> {
  return new Map(columns.map(({ path }, i) => [path, first + i]))
}

function openRow(size: number): OpenRow {
  return { cells: new Array<Cell>(size).fill(null), misfits: [], drifted: false }
}

function closed({ cells, misfits }: OpenRow, extra: Json | undefined): TableRow {
  return { cells, extra: (extra as TableRow['extra'] | undefined) ?? null, misfits }
}

/** Reads one field of a record by itself; null where it has no value of its form. */
function cellReader(schema: z.ZodObject, { path }: FieldColumn): (record: Json) => Cell {
  const leaf = leafOf(fieldAt(schema, path))
  const fieldOf = readerOf(path)
  return (record) => {
    const value = fieldOf(record)
    if (value === undefined || value === null) return null
    return (leaf ? leaf.read(value) : JSON.stringify(value)) ?? null
  }
}

/** Reads what stands at a path, undefined where a part of it is missing. Compiled once, for a million records. */
function readerOf(path: string): (record: Json) => Json | undefined {
  const keys = path.split('.')
  return (record) => {
    let value: Json | undefined = record
    for (const key of keys) value = isPlainObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
    return value
  }
}
