import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type Json, parseJson } from '../../lib/core/json.ts'
import { dateTime, freeForm, integer, jsonText, resource, timeText, unixMs } from '../../lib/platform/fields.ts'
import { columnAt, columnsFrom, type Layout, snakeCase } from '../../lib/streams/columns.ts'
import { recordTable } from '../../lib/streams/schema-tables.ts'
import type { Column } from '../../lib/streams/table.ts'
import { rowsOf } from './fixtures.ts'

const Thing = resource(() => ({
  count: integer().describe('How many.'),
  ratio: z.number().nullish().describe('Share.'),
  isOn: z.boolean().nullish().describe('Whether it is on.'),
  kind: z.enum(['a', 'b']).nullish().describe('Kind.'),
  at: unixMs().nullish().describe('When it was.'),
  since: dateTime().nullish().describe('Since when.'),
  when: timeText().nullish().describe('When it was, as text.'),
  inner: resource(() => ({
    theName: z.string().nullish().describe('Name.'),
    deep: resource(() => ({ size: integer().nullish().describe('Size.') })).nullish(),
  })).nullish(),
  free: freeForm().nullish().describe('Anything.'),
  list: z.array(z.string()).nullish().describe('Names.'),
  text: jsonText().nullish().describe('JSON already.'),
}))
const empty = { count: 1 }

function outline(columns: readonly Column[]) {
  return columns.map(({ name, type }) => `${name} ${type}`)
}
function cellsOf(thing: Json, fields: Layout<typeof Thing> = {}) {
  const table = recordTable(Thing, { name: 'things', doc: 'Things.', key: ['count'], fields })
  return rowsOf(table, [thing])[0]!
}
function cellOf(name: string, thing: Json, fields?: Layout<typeof Thing>) {
  return cellsOf(thing, fields)[name]
}

describe('the columns of a schema', () => {
  it('take name, type and order from its fields, objects flat by their path', () => {
    expect(outline(columnsFrom(Thing))).toEqual([
      'count int64',
      'ratio double',
      'is_on boolean',
      'kind string',
      'at timestamp',
      'since timestamp',
      'when timestamp',
      'inner_the_name string',
      'inner_deep_size int64',
      'free json',
      'list json',
      'text json',
    ])
  })

  it('take their meaning from the description, wherever it stands among the layers of a field', () => {
    const schema = z.object({
      outside: z.string().nullable().describe('Said last.'),
      inside: z.string().describe('Said first.').nullable().optional(),
      both: z.string().describe('Said first.').nullable().describe('Said last.'),
    })
    expect(columnsFrom(schema).map(({ doc }) => doc)).toEqual(['Said last.', 'Said first.', 'Said last.'])
  })

  it('grow by a column with each field that the schema gains, and by nothing else', () => {
    const grown = Thing.extend({ newField: timeText().nullish().describe('When it came.') })
    const added = columnsFrom(grown).slice(columnsFrom(Thing).length)
    expect(added).toMatchObject([{ name: 'new_field', type: 'timestamp', doc: 'When it came.' }])
  })

  it('know a time by its schema through every layer around it', () => {
    const wraps = [
      unixMs(),
      unixMs().describe('x'),
      unixMs().nullish(),
      unixMs().readonly(),
      unixMs().min(5).optional(),
    ]
    for (const wrapped of wraps) {
      expect(columnsFrom(z.object({ at: wrapped.describe('When.') }))).toMatchObject([{ type: 'timestamp' }])
    }
  })
})

describe('a layout', () => {
  const named = (layout: Layout<typeof Thing>) => columnsFrom(Thing, layout).map(({ name }) => name)

  it('leaves fields out, and renames others in their place', () => {
    const names = named({ ratio: 'left_out', inner: 'left_out', isOn: { column: 'enabled' } })
    expect(names.slice(0, 3)).toEqual(['count', 'enabled', 'kind'])
    expect(names.filter((name) => name.startsWith('inner'))).toEqual([])
  })

  it("names an object's fields with another prefix, or with none", () => {
    expect(named({ inner: { prefix: 'its_' } })).toContain('its_deep_size')
    expect(named({ inner: { prefix: '' } }).slice(7, 9)).toEqual(['the_name', 'deep_size'])
    expect(cellOf('deep_size', { ...empty, inner: { deep: { size: 3 } } }, { inner: { prefix: '' } })).toBe(3)
  })

  it('keeps an object whole as JSON, with the fields beside it that were picked', () => {
    const inner = { column: 'inner', doc: 'All of it.', picked: ['deep.size', 'theName'] }
    const columns = columnsFrom(Thing, { inner }).slice(7, 10)
    expect(columns).toMatchObject([
      { name: 'inner', type: 'json', doc: 'All of it.' },
      { name: 'deep_size', type: 'int64', doc: 'Size.' },
      { name: 'the_name', type: 'string', doc: 'Name.' },
    ])
    const thing = { ...empty, inner: { theName: 'n', deep: { size: 3 } } }
    expect(cellsOf(thing, { inner })).toMatchObject({
      inner: '{"theName":"n","deep":{"size":3}}',
      deep_size: 3,
      the_name: 'n',
    })
    expect(cellsOf(empty, { inner })).toMatchObject({ inner: null, deep_size: null, the_name: null })
  })

  it('is refused when it is of no field, or asks for the fields of what has none', () => {
    expect(() => columnsFrom(Thing, { outer: 'left_out' } as Layout<typeof Thing>)).toThrow(/no field "outer"/)
    expect(() => columnsFrom(Thing, { free: { prefix: '' } })).toThrow(/"free" has no fields/)
    const inner = { column: 'inner', doc: 'All.', picked: ['shallow'] }
    expect(() => columnsFrom(Thing, { inner })).toThrow(/no field "inner.shallow"/)
  })
})

describe('a cell', () => {
  it('is null where any part of the path is absent or null', () => {
    expect(cellOf('inner_deep_size', { ...empty, inner: { deep: { size: 2 } } })).toBe(2)
    for (const inner of [null, {}, { deep: null }, { deep: {} }, { deep: { size: null } }]) {
      expect(cellOf('inner_deep_size', { ...empty, inner })).toBeNull()
    }
    const { count, ...others } = cellsOf(empty)
    expect([count, ...new Set(Object.values(others))]).toEqual([1, null])
  })

  it('keeps false, 0 and the empty string apart from null (JSON-07)', () => {
    expect(cellOf('is_on', { ...empty, isOn: false })).toBe(false)
    expect(cellOf('ratio', { ...empty, ratio: 0 })).toBe(0)
    expect(cellOf('inner_the_name', { ...empty, inner: { theName: '' } })).toBe('')
  })

  it('is a time in Unix milliseconds, whatever way it is written', () => {
    expect(cellOf('at', { ...empty, at: 1748411762359 })).toBe(1748411762359)
    expect(cellOf('since', { ...empty, since: '2025-05-28T05:56:02.359Z' })).toBe(1748411762359)
    expect(cellOf('when', { ...empty, when: '2025-05-28 05:56:02' })).toBe(Date.UTC(2025, 4, 28, 5, 56, 2))
    for (const when of ['', 'soon', '0001-01-01', null]) expect(cellOf('when', { ...empty, when })).toBeNull()
  })

  it('is JSON text with all its digits and both spellings of a key (LAKE-04), and text that is JSON as it stands', () => {
    const record = parseJson('{"count":1,"free":{"Team":"a","team":"b","n":9007199254740993},"text":"{\\"a\\": 1}"}')
    expect(cellOf('free', record)).toBe('{"Team":"a","team":"b","n":9007199254740993}')
    expect(cellOf('text', record)).toBe('{"a": 1}')
  })
})

describe('a column of a path', () => {
  it('is refused when the path is no field, or is not described', () => {
    expect(() => columnAt(Thing, 'inner.shallow')).toThrow(/no field "inner.shallow"/)
    expect(() => columnAt(Thing, 'free.x')).toThrow(/no field "free.x"/)
    expect(() => columnAt(Thing, 'inner')).toThrow(/describe\(\)/)
    expect(() => columnsFrom(z.object({ bare: z.string() }))).toThrow(/does not describe "bare"/)
  })

  it('is named as the warehouse names things', () => {
    expect(snakeCase('sessionSettings.tokenUsage.cacheReadTokens')).toBe(
      'session_settings_token_usage_cache_read_tokens',
    )
  })
})
