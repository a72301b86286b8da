import { describe, expect, it } from 'vitest'
import { FatalError } from '../../lib/core/errors.ts'
import type { Json } from '../../lib/core/json.ts'
import { cursorPages, singlePage, startAfterPages } from '../../lib/platform/paging.ts'
import type { Endpoint } from '../../lib/platform/transport.ts'

const anywhere: Endpoint = { base: 'v0', path: '/items' }

function codeOf(parse: () => unknown): string | undefined {
  try {
    parse()
  } catch (error) {
    return error instanceof FatalError ? error.code : `${error}`
  }
  return undefined
}

describe('lists that page by cursor', () => {
  const endpoint = { base: 'v0', path: '/users' } as const
  const reading = cursorPages({ endpoint, items: 'users', pageSize: 100 })
  const body = (pagination: Json, users: Json[] = []): Json => ({ users, pagination })

  it('ask for pages of the declared size and send a cursor only when they have one', () => {
    expect(reading.request({ token: null })).toEqual({ endpoint, query: { limit: '100' } })
    expect(reading.request({ token: 'c1' })).toEqual({ endpoint, query: { limit: '100', cursor: 'c1' } })
  })

  it('end at hasMore: false whatever the cursor says (PAG-03)', () => {
    const page = reading.parse(body({ hasMore: false, nextCursor: 'x' }, [{ id: 'u1' }]))
    expect(page).toEqual({ records: [{ id: 'u1' }], nextToken: null })
    expect(reading.endsWith(page, 1)).toBe(true)
  })

  it('go on after an empty page that says hasMore: true', () => {
    const page = reading.parse(body({ hasMore: true, nextCursor: 'c2' }))
    expect(page.nextToken).toBe('c2')
    expect(reading.endsWith(page, 0)).toBe(false)
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
    expect(codeOf(() => reading.parse(body(pagination)))).toBe('bad_pagination')
  })

  it('are broken without a pagination object', () => {
    expect(codeOf(() => reading.parse({ users: [] }))).toBe('bad_pagination')
  })
})

describe('the readiness list', () => {
  const endpoint = { base: 'app', path: '/reports' } as const
  const reading = startAfterPages({ endpoint, items: 'reports', idField: 'reportId', pageSize: 100 })

  it('goes on after the last id of a page, however short the page is (PAG-06)', () => {
    const page = reading.parse({ reports: [{ reportId: 'a' }, { reportId: 'b' }] })
    expect(page.nextToken).toBe('b')
    expect(reading.endsWith(page, 2)).toBe(false)
    expect(reading.request({ token: 'b' })).toEqual({ endpoint, query: { limit: '100', startAfter: 'b' } })
  })

  it('ends at an empty page and at a page without a new id (PAG-06)', () => {
    expect(reading.endsWith(reading.parse({ reports: [] }), 0)).toBe(true)
    expect(reading.endsWith(reading.parse({ reports: [{ reportId: 'a' }] }), 0)).toBe(true)
  })

  it.each<Json>([{}, { reportId: null }, { reportId: '' }, { reportId: 5 }, 'text', null])(
    'goes on after the record before the last when the last is %j, and keeps both',
    (last) => {
      const page = reading.parse({ reports: [{ reportId: 'a' }, last] })
      expect(page).toEqual({ records: [{ reportId: 'a' }, last], nextToken: 'a' })
    },
  )
})

describe('a list that answers whole', () => {
  it('is one page without parameters', () => {
    const endpoint = { base: 'v0', path: '/computers' } as const
    const reading = singlePage({ endpoint, items: 'computers' })
    const page = reading.parse({ computers: [{ id: 'c1' }] })
    expect(page).toEqual({ records: [{ id: 'c1' }], nextToken: null })
    expect(reading.endsWith(page, 1)).toBe(true)
    expect(reading.request({ token: null })).toEqual({ endpoint, query: {} })
  })
})

describe('a list that exists per parent', () => {
  const messagesOf = (session: string): Endpoint => ({ base: 'v0', path: `/sessions/${session}/messages` })
  const readings = {
    cursor: cursorPages({ endpoint: messagesOf, items: 'messages', pageSize: 20 }),
    startAfter: startAfterPages({ endpoint: messagesOf, items: 'messages', idField: 'id', pageSize: 20 }),
    whole: singlePage({ endpoint: messagesOf, items: 'messages' }),
  }

  it.each(Object.entries(readings))("is asked for at its parent's address: %s", (_way, reading) => {
    expect(reading.request({ token: null, parent: 's1' }).endpoint).toEqual(messagesOf('s1'))
    expect(reading.request({ token: 't', parent: 's2' }).endpoint).toEqual(messagesOf('s2'))
  })

  it('is not asked for without a parent', () => {
    expect(() => readings.cursor.request({ token: null })).toThrow(/list per parent/)
  })
})

describe.each([
  ['cursor', cursorPages({ endpoint: anywhere, items: 'items', pageSize: 100 })],
  ['startAfter', startAfterPages({ endpoint: anywhere, items: 'items', idField: 'id', pageSize: 100 })],
  ['single', singlePage({ endpoint: anywhere, items: 'items' })],
])('a body of another shape on a %s list', (_name, reading) => {
  it.each<Json>([null, [], {}, 'text', 7, { items: null }, { items: {} }, { data: [] }])('is an error: %j', (body) => {
    expect(codeOf(() => reading.parse(body))).toBe('unexpected_body')
  })
})
