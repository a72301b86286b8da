import { parquetMetadata } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { Json } from '../../lib/core/json.ts'
import { formOf, unixMs } from '../../lib/platform/fields.ts'
import { parseTime } from '../../lib/platform/times.ts'
import { type Extracted, extractorOf } from '../../lib/streams/extract.ts'
import { platformStreams, streams } from '../../lib/streams/index.ts'
import { keyFieldsOf, keyText } from '../../lib/streams/keys.ts'
import { coreOf, declaredBy } from '../../lib/streams/schema-layers.ts'
import { sessionMessages } from '../../lib/streams/session-messages.ts'
import { tablesOf } from '../../lib/streams/stream.ts'
import { type Cell, type ColumnType, columnsOf, type Table } from '../../lib/streams/table.ts'
import { keyReaderOf } from '../../lib/sync/validate.ts'
import { caseCollisions, fixtureOf, type JsonRecord, parquetOf, rowsOf } from './fixtures.ts'

const snake = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/
const holds: Record<ColumnType, (cell: Cell) => boolean> = {
  string: (cell) => typeof cell === 'string',
  int64: (cell) => Number.isSafeInteger(cell),
  double: (cell) => typeof cell === 'number',
  boolean: (cell) => typeof cell === 'boolean',
  timestamp: (cell) => Number.isSafeInteger(cell) && (cell as number) > Date.UTC(2000, 0, 1),
  json: (cell) => typeof cell === 'string' && typeof JSON.parse(cell) === 'object',
}

describe.each(streams)('stream $name', (stream) => {
  const records = fixtureOf(stream)
  const tables = stream.tables as readonly Table[]

  it('takes its fixture', () => {
    for (const record of records) expect(stream.schema.safeParse(record).error).toBeUndefined()
  })

  it('finds nothing unknown in its fixture', () => {
    for (const record of records) {
      const { rows, invalid, drifted } = extractorOf(stream)(record)
      expect({ extra: rows[0]![0]!.extra, invalid, drifted }).toEqual({ extra: null, invalid: [], drifted: false })
    }
  })

  it('has a primary key that tells the records of its fixture apart', () => {
    const keys = records.map((record) => String(keyReaderOf(stream)(record)))
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('names itself and all it feeds in snake_case, columns unique without regard to case (LAKE-04)', () => {
    expect(stream.name).toMatch(snake)
    for (const table of tablesOf(stream)) {
      expect(table.name).toMatch(snake)
      for (const { name } of table.columns) expect(name).toMatch(snake)
      expect(caseCollisions(columnsOf(table).map(({ name }) => name))).toEqual([])
    }
  })

  it('gives each column a meaning', () => {
    for (const table of tablesOf(stream))
      for (const { name, doc } of table.columns) expect(doc, name).toMatch(/^[A-Z].+\.$/)
  })

  it('fills every column at least once, with cells of the declared type', () => {
    for (const table of tables) {
      const rows = rowsOf(table, records)
      for (const { name, type } of table.columns) {
        const cells = rows.map((row) => row[name] as Cell).filter((cell) => cell !== null)
        expect(cells.length, `${table.name}.${name} is null in every row`).toBeGreaterThan(0)
        expect(
          cells.filter((cell) => !holds[type](cell)),
          `${table.name}.${name}`,
        ).toEqual([])
      }
    }
  })

  it('yields one row per record in its main table', () => {
    const [main] = tables
    for (const record of records) expect(rowsOf(main!, [record])).toHaveLength(1)
  })

  it('tells the rows of each table apart by its key, which begins with the key of the main table', () => {
    for (const table of tables) {
      const rows = rowsOf(table, records)
      const keys = rows.map((row) => JSON.stringify(table.key.map((column) => row[column])))
      expect(new Set(keys).size).toBe(rows.length)
      expect(keys.join()).not.toContain('null')
      const parents = new Set(rowsOf(tables[0]!, records).map((row) => row[tables[0]!.key[0]!]))
      for (const row of rows) expect(parents.has(row[table.key[0]!] as Cell)).toBe(true)
    }
  })

  it('knows each time of its fixture as one: what is none is null, and kept beside its column', () => {
    for (const record of records) {
      const { odd, times } = withoutTimes(record)
      const told = invalidOf(extractorOf(stream)(odd)).filter(({ value }) => value === 'long ago' || value === seconds)
      expect(told).toHaveLength(times)
      const [row] = rowsOf(tables[0]!, [odd])
      for (const { name, type } of tables[0]!.columns) if (type === 'timestamp') expect(row![name], name).toBeNull()
    }
  })

  it.each(oddValues)('keeps its row whatever stands in a field: %s', (kind, value) => {
    const extract = extractorOf(stream)
    const [full] = records
    const key = String(keyReaderOf(stream)(full!))
    for (const { field, path, takes } of fieldsOf(stream.schema)) {
      const record = structuredClone(full!)
      if (!replaced(record, path, value)) continue
      const result = extract(record, key)
      const told = invalidOf(result).map((each) => each.field)
      // Within a list or an object each part is looked at by itself.
      if (takes.includes(kind)) for (const each of told) expect(each).toMatch(new RegExp(`^${field}[.[]`))
      else expect(told, field).toEqual([field])
      expect(result.rows[0], field).toHaveLength(1)
      const row = rowOf(tables[0]!, result)
      for (const { name, type } of tables[0]!.columns) {
        if (row[name] !== null) expect(holds[type](row[name]!), `${field}: ${name}`).toBe(true)
      }
      expect(keyText(tables[0]!.key.map((column) => String(row[column])))).toBe(key)
    }
  })

  it('has the same Parquet schema for an empty, an all-null and a full batch', () => {
    for (const table of tables) {
      const full = rowsOf(table, records).map(Object.values) as Cell[][]
      const blank = full.map((cells) => cells.map(() => null))
      const schemas = [[], blank, full].map((rows) => parquetMetadata(parquetOf(table, rows)).schema)
      expect(schemas[0]).toEqual(schemas[2])
      expect(schemas[1]).toEqual(schemas[2])
      expect(schemas[2]).toHaveLength(1 + columnsOf(table).length)
    }
  })
})

describe.each([...platformStreams, sessionMessages])('stream $name of the platform', (stream) => {
  const records = fixtureOf(stream)
  const tables = stream.tables as readonly Table[]

  it('takes unknown fields and tells what they are', () => {
    for (const record of records) {
      const grown: Json = { ...record, fieldOfTomorrow: { level: 1 } }
      expect(stream.schema.parse(grown)).toMatchObject({ fieldOfTomorrow: { level: 1 } })
      const { rows, drifted } = extractorOf(stream)(grown)
      expect([rows[0]![0]!.extra, drifted]).toEqual(['{"fieldOfTomorrow":{"level":1}}', true])
    }
  })

  it('takes null for every optional field, and refuses it for its primary key', () => {
    const [full] = records
    for (const [key, field] of Object.entries(stream.schema.shape)) {
      const optional = (field as z.ZodType).safeParse(undefined).success
      expect(stream.schema.safeParse({ ...full, [key]: null }).success, key).toBe(optional)
    }
    for (const key of keyFieldsOf(stream)) expect(stream.schema.safeParse({ ...full, [key]: null }).success).toBe(false)
  })

  it('builds its rows from a record without a single optional field, and leaves those cells null', () => {
    const required = Object.keys(stream.schema.shape).filter(
      (key) => !(stream.schema.shape[key] as z.ZodType).safeParse(undefined).success,
    )
    const bare = Object.fromEntries(required.map((key) => [key, records[0]![key] as Json]))
    expect(stream.schema.safeParse(bare).error).toBeUndefined()
    for (const table of tables) rowsOf(table, [bare])
    const [full] = rowsOf(tables[0]!, [records[0]!])
    const [row] = rowsOf(tables[0]!, [bare])
    const filled = Object.entries(row!).filter(([, cell]) => cell !== null)
    expect(full).toMatchObject(Object.fromEntries(filled))
    expect(Object.keys(row!)).toHaveLength(tables[0]!.columns.length)
    expect(Object.keys(full!).length).toBeGreaterThan(filled.length)
  })
})

type Told = { field: string; value: Json }

/** What is told in the main row to have an unforeseen form. */
function invalidOf({ rows }: Extracted): Told[] {
  return JSON.parse(rows[0]![0]!.invalid ?? '[]') as Told[]
}

const deep = JSON.parse(`${'['.repeat(150)}${']'.repeat(150)}`) as Json
const oddValues: [string, Json][] = [
  ['a number', 5.5],
  ['a text', 'a dozen'],
  ['true', true],
  ['null', null],
  ['a list', [1, 'two']],
  ['an object', { odd: 1 }],
  ['something deep', deep],
]

type Declared = { field: string; path: string[]; takes: readonly string[] }

/** The fields of a schema that have a column of their own, objects that are flat in columns opened. */
function fieldsOf(schema: z.ZodObject, above: string[] = []): Declared[] {
  return Object.entries(schema.shape).flatMap(([key, declared]) => {
    const path = [...above, key]
    const field = path.join('.')
    const core = coreOf(declared as z.ZodType)
    const optional = (declared as z.ZodType).safeParse(null).success ? ['null'] : []
    const takes = [...optional, ...kindsOf(declared as z.ZodType)]
    // Settings of a revision are one JSON column: what is inside has none.
    const below = core instanceof z.ZodObject && field !== 'settings' ? fieldsOf(core, path) : []
    return [{ field, path, takes }, ...below]
  })
}

/** Which of the odd values are none to a field. */
function kindsOf(declared: z.ZodType): string[] {
  const core = coreOf(declared)
  if (core instanceof z.ZodObject || core instanceof z.ZodRecord) return ['an object']
  if (core instanceof z.ZodArray) return ['a list', 'something deep']
  if (core instanceof z.ZodBoolean) return ['true']
  const isPlain = declaredBy(declared, formOf) === undefined
  if (core instanceof z.ZodString) return isPlain ? ['a text'] : []
  return core instanceof z.ZodNumber && isPlain && !core.isInt ? ['a number'] : []
}

/** The main row of what was extracted, by column. */
function rowOf(table: Table, { rows }: Extracted): Record<string, Cell> {
  return Object.fromEntries(table.columns.map(({ name }, i) => [name, rows[0]![0]!.cells[i]!]))
}

function replaced(record: JsonRecord, path: readonly string[], value: Json): boolean {
  const parent = path
    .slice(0, -1)
    .reduce<Json | undefined>((part, key) => (part as JsonRecord | undefined)?.[key], record)
  if (parent === undefined || parent === null) return false
  Object.assign(parent, { [path.at(-1)!]: value })
  return true
}

/** Unix seconds, which are no milliseconds of any plausible time. */
const seconds = 1_748_411_762

/** A record in which all that reads as a time is none, and how much that was. */
function withoutTimes(record: JsonRecord): { odd: JsonRecord; times: number } {
  let times = 0
  const odd = JSON.stringify(record, (_key, value: unknown) => {
    const isText = typeof value === 'string' && parseTime(value) !== null
    if (!isText && !unixMs().safeParse(value).success) return value
    times += 1
    return isText ? 'long ago' : seconds
  })
  return { odd: JSON.parse(odd) as JsonRecord, times }
}
