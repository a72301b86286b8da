import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { parseJson } from '../../lib/core/json.ts'
import { freeForm, integer, resource } from '../../lib/platform/fields.ts'
import { field, snakeCase, within } from '../../lib/streams/columns.ts'

const Thing = resource({
  count: integer().describe('How many.'),
  ratio: z.number().nullish().describe('Share.'),
  on: z.boolean().nullish().describe('Whether it is on.'),
  at: z.int().nullish().describe('When it was, Unix milliseconds (§0).'),
  when: z.string().nullish().describe('When it was.'),
  inner: resource({ deep: resource({ name: z.string().nullish().describe('Name.') }).nullish() }).nullish(),
  free: freeForm().nullish().describe('Anything.'),
  list: z.array(z.string()).nullish().describe('Names.'),
})
const empty = { count: 1 }

describe('field', () => {
  it('takes type, name and meaning from the schema', () => {
    const columns = ['count', 'ratio', 'on', 'inner.deep.name', 'free', 'list'].map((path) => field(Thing, path))
    expect(columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'count int64',
      'ratio double',
      'on boolean',
      'inner_deep_name string',
      'free json',
      'list json',
    ])
    expect(field(Thing, 'inner.deep.name').doc).toBe('Name.')
    expect(field(Thing, 'on', { name: 'is_on', doc: 'On.' })).toMatchObject({ name: 'is_on', doc: 'On.' })
  })

  it('reads null where any part of the path is absent or null', () => {
    const { value } = field(Thing, 'inner.deep.name')
    expect(value({ ...empty, inner: { deep: { name: 'a' } } })).toBe('a')
    for (const inner of [undefined, null, {}, { deep: null }, { deep: {} }, { deep: { name: null } }]) {
      expect(value({ ...empty, inner })).toBeNull()
    }
    expect(field(Thing, 'free').value(empty)).toBeNull()
  })

  it('keeps false, 0 and the empty string apart from null (JSON-07)', () => {
    expect(field(Thing, 'on').value({ ...empty, on: false })).toBe(false)
    expect(field(Thing, 'ratio').value({ ...empty, ratio: 0 })).toBe(0)
    expect(field(Thing, 'when').value({ ...empty, when: '' })).toBe('')
  })

  it('reads a time from Unix milliseconds and from text, and says nothing of the unit', () => {
    const at = field(Thing, 'at', { type: 'timestamp' })
    expect(at.value({ ...empty, at: 1748411762359 })).toBe(1748411762359)
    expect(at.doc).toBe('When it was (§0).')
    const { value } = field(Thing, 'when', { type: 'timestamp' })
    expect(value({ ...empty, when: '2025-05-28T05:56:02.359Z' })).toBe(1748411762359)
    expect(value({ ...empty, when: '2025-05-28 05:56:02' })).toBe(Date.UTC(2025, 4, 28, 5, 56, 2))
    for (const when of ['', 'soon', '0001-01-01', null, undefined]) expect(value({ ...empty, when })).toBeNull()
  })

  it('writes free-form objects as JSON text with all their digits and both spellings of a key (LAKE-04)', () => {
    const record = parseJson('{"count":1,"free":{"Team":"a","team":"b","n":9007199254740993}}')
    expect(field(Thing, 'free').value(record as z.infer<typeof Thing>)).toBe(
      '{"Team":"a","team":"b","n":9007199254740993}',
    )
  })

  it('refuses a path that is no field, is not described, or is too deep', () => {
    expect(() => field(Thing, 'inner.shallow')).toThrow(/no field "inner.shallow"/)
    expect(() => field(Thing, 'free.x')).toThrow(/no field "free.x"/)
    expect(() => field(Thing, 'inner')).toThrow(/describe\(\)/)
  })
})

describe('within', () => {
  it('reads the same column from a part of the row', () => {
    const column = within(({ thing }: { thing: z.infer<typeof Thing> }) => thing, field(Thing, 'count'))
    expect(column).toMatchObject({ name: 'count', type: 'int64' })
    expect(column.value({ thing: { count: 3 } })).toBe(3)
  })
})

describe('snakeCase', () => {
  it('names a path as the warehouse does', () => {
    expect(snakeCase('sessionSettings.tokenUsage.cacheReadTokens')).toBe(
      'session_settings_token_usage_cache_read_tokens',
    )
  })
})
