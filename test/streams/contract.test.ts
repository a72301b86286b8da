import { parquetMetadata } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import type { Json } from '../../lib/core/json.ts'
import { parseTime, unixMs } from '../../lib/platform/fields.ts'
import { encodeParquet } from '../../lib/stores/parquet.ts'
import { inspectorOf } from '../../lib/streams/drift.ts'
import { platformStreams, streams } from '../../lib/streams/index.ts'
import { tablesOf } from '../../lib/streams/stream.ts'
import { type Cell, type ColumnType, columnsOf, type Table } from '../../lib/streams/table.ts'
import { caseCollisions, fixtureOf, type JsonRecord, rowsOf } from './fixtures.ts'

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
    expect(records.map(inspectorOf(stream))).toEqual(records.map(() => ({ extra: null, drifted: false })))
  })

  it('has a primary key that tells the records of its fixture apart', () => {
    const keys = records.map((record) => record[stream.primaryKey])
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

  it('knows each time of its fixture as one: what is none is refused, or kept beside its column', () => {
    for (const record of records) {
      const { odd, times } = withoutTimes(record)
      const refused = stream.schema.safeParse(odd).error?.issues.length ?? 0
      const kept = JSON.stringify(inspectorOf(stream)(odd).extra).split('long ago').length - 1
      expect(refused + kept).toBe(times)
      const [row] = rowsOf(tables[0]!, [odd])
      for (const { name, type } of tables[0]!.columns) {
        if (type === 'timestamp') expect([null, seconds], name).toContain(row![name])
      }
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

describe.each(platformStreams)('stream $name of the platform', (stream) => {
  const records = fixtureOf(stream)
  const tables = stream.tables as readonly Table[]

  it('takes unknown fields and tells what they are', () => {
    for (const record of records) {
      const grown: Json = { ...record, fieldOfTomorrow: { level: 1 } }
      expect(stream.schema.parse(grown)).toMatchObject({ fieldOfTomorrow: { level: 1 } })
      expect(inspectorOf(stream)(grown)).toEqual({ extra: { fieldOfTomorrow: { level: 1 } }, drifted: true })
    }
  })

  it('takes null for every optional field, and refuses it for its primary key', () => {
    const [full] = records
    for (const [key, field] of Object.entries(stream.schema.shape)) {
      const optional = (field as z.ZodType).safeParse(undefined).success
      expect(stream.schema.safeParse({ ...full, [key]: null }).success, key).toBe(optional)
    }
    expect(stream.schema.safeParse({ ...full, [stream.primaryKey]: null }).success).toBe(false)
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

function parquetOf(table: Table, rows: Cell[][]): ArrayBuffer {
  const columns = columnsOf(table).map((_column, i) => rows.map((cells) => cells[i] ?? null))
  return encodeParquet({ table, columns, rows: rows.length }).slice().buffer as ArrayBuffer
}
