import { describe, expect, it } from 'vitest'
import { FatalError } from '../../lib/core/errors.ts'
import type { Json } from '../../lib/core/json.ts'
import { cursorPages, singlePage, startAfterPages } from '../../lib/platform/paging.ts'

function codeOf(parse: () => unknown): string | undefined {
  try {
    parse()
  } catch (error) {
    return error instanceof FatalError ? error.code : `${error}`
  }
  return undefined
}

describe('lists that page by cursor', () => {
  const paging = cursorPages('users')
  const body = (pagination: Json, users: Json[] = []): Json => ({ users, pagination })

  it('ask for the documented maximum and send a cursor only when they have one', () => {
    expect(paging.query(null)).toEqual({ limit: '100' })
    expect(paging.query('c1')).toEqual({ limit: '100', cursor: 'c1' })
  })

  it('end at hasMore: false whatever the cursor says (PAG-03)', () => {
    const page = paging.parse(body({ hasMore: false, nextCursor: 'x' }, [{ id: 'u1' }]))
    expect(page).toEqual({ records: [{ id: 'u1' }], nextToken: null })
    expect(paging.endsWith(page, 1)).toBe(true)
  })

  it('go on after an empty page that says hasMore: true', () => {
    const page = paging.parse(body({ hasMore: true, nextCursor: 'c2' }))
    expect(page.nextToken).toBe('c2')
    expect(paging.endsWith(page, 0)).toBe(false)
  })

  it.each<Json>([
    { hasMore: true, nextCursor: null },
    { hasMore: true, nextCursor: '' },
    { hasMore: true },
    { hasMore: true, nextCursor: 7 },
    { nextCursor: 'c2' },
    { hasMore: 'true', nextCursor: 'c2' },
    null,
    [],
  ])('are broken, not ended, by the pagination %j (PAG-03)', (pagination) => {
    expect(codeOf(() => paging.parse(body(pagination)))).toBe('bad_pagination')
  })

  it('are broken without a pagination object', () => {
    expect(codeOf(() => paging.parse({ users: [] }))).toBe('bad_pagination')
  })
})

describe('the readiness list', () => {
  const paging = startAfterPages('reports', 'reportId')

  it('goes on after the last id of a page, however short the page is (PAG-06)', () => {
    const page = paging.parse({ reports: [{ reportId: 'a' }, { reportId: 'b' }] })
    expect(page.nextToken).toBe('b')
    expect(paging.endsWith(page, 2)).toBe(false)
    expect(paging.query('b')).toEqual({ limit: '100', startAfter: 'b' })
  })

  it('ends at an empty page and at a page without a new id (PAG-06)', () => {
    expect(paging.endsWith(paging.parse({ reports: [] }), 0)).toBe(true)
    expect(paging.endsWith(paging.parse({ reports: [{ reportId: 'a' }] }), 0)).toBe(true)
  })

  it.each<Json>([{}, { reportId: null }, { reportId: '' }, { reportId: 5 }, 'text', null])(
    'goes on after the record before the last when the last is %j, and keeps both',
    (last) => {
      const page = paging.parse({ reports: [{ reportId: 'a' }, last] })
      expect(page).toEqual({ records: [{ reportId: 'a' }, last], nextToken: 'a' })
    },
  )
})

describe('a list that answers whole', () => {
  it('is one page without parameters', () => {
    const page = singlePage('computers').parse({ computers: [{ id: 'c1' }] })
    expect(page).toEqual({ records: [{ id: 'c1' }], nextToken: null })
    expect(singlePage('computers').endsWith(page, 1)).toBe(true)
    expect(singlePage('computers').query(null)).toEqual({})
  })
})

describe.each([
  ['cursor', cursorPages('items')],
  ['startAfter', startAfterPages('items', 'id')],
  ['single', singlePage('items')],
])('a body of another shape on a %s list', (_name, paging) => {
  it.each<Json>([null, [], {}, 'text', 7, { items: null }, { items: {} }, { data: [] }])('is an error: %j', (body) => {
    expect(codeOf(() => paging.parse(body))).toBe('unexpected_body')
  })
})
