import { describe, expect, it } from 'vitest'
import type { Json } from '../../lib/core/json.ts'
import { cursorPages, singlePage, startAfterPages } from '../../lib/platform/paging.ts'
import { gapsOf } from '../../lib/platform/partial.ts'
import { clientOf, failure, sessionsList } from './fixture.ts'
import { json, stubServer } from './stub-server.ts'

const page = { sessions: [], pagination: { hasMore: false } }

describe('a list that says that it is partial (DEL-05)', () => {
  it.each<[{ [key: string]: Json }, string]>([
    [{ errors: [{ message: 'shard 3 timed out' }] }, 'errors'],
    [{ error: 'kept' }, 'error'],
    [{ incompleteResults: true }, 'incompleteResults'],
    [{ incomplete_results: 'yes' }, 'incomplete_results'],
    [{ partial: true }, 'partial'],
    [{ truncated: 1 }, 'truncated'],
    [{ timed_out: true }, 'timed_out'],
    [{ complete: false }, 'complete'],
    [{ status: 'partial' }, 'status'],
    [{ warnings: ['2 shards were unavailable'] }, 'warnings'],
    [{ warning: { message: 'results are incomplete' } }, 'warning'],
    [{ meta: { partial: true }, errors: ['x'] }, 'errors, meta.partial'],
    [{ _shards: { total: 5, failed: 1 } }, '_shards.failed'],
    [{ pagination: { hasMore: false, truncated: true } }, 'pagination.truncated'],
  ])('is known by %j', (members, named) => {
    expect(gapsOf({ ...page, ...members })).toBe(named)
  })

  it.each<{ [key: string]: Json }>([
    { errors: [] },
    { errors: null, error: '', partial: false, truncated: 0, incompleteResults: 'false' },
    { errors: {}, complete: true, ok: true },
    { warnings: ['the field title goes away in May'] },
    { status: 'ok', meta: { errors: [] } },
    { total: 3, requestId: 'r-1' },
    { pagination: { hasMore: true, isTruncated: true } },
  ])('is not known by what is empty or says something else: %j', (members) => {
    expect(gapsOf({ ...page, ...members })).toBeNull()
  })

  it.each<Json>([null, [], 'errors', 7])('is no %j', (body) => {
    expect(gapsOf(body)).toBeNull()
  })

  it('is asked for again, and is an error that says what the platform said when it stays so', async () => {
    const partial = json({ ...page, errors: [{ message: 'shard 3 timed out', record: 'r-77' }] })
    const { url, seen } = await stubServer(partial, json(page), partial)
    await expect(clientOf(url).get(sessionsList, {})).resolves.toEqual(page)
    expect(seen).toHaveLength(2)
    const error = await failure(clientOf(url).listSessions())
    expect(error).toMatchObject({ name: 'RetryableError', code: 'partial_answer' })
    expect(error.message).toContain('not whole: errors: shard 3 timed out.')
    expect(error.message).not.toContain('r-77')
    expect(seen).toHaveLength(7)
  })

  it('is not what the answer about credit limits is, whose errors are its own', async () => {
    const answer = { updated: [], errors: [{ email: 'ada@example.com', error: 'unknown' }] }
    const { url } = await stubServer(json(answer))
    const asked = clientOf(url).setUserCreditLimits([{ email: 'ada@example.com', limit: 1 }])
    await expect(asked).resolves.toEqual(answer)
  })
})

describe('what stands beside a list without being known', () => {
  const endpoint = { base: 'v0', path: '/x' } as const
  const pagination = { hasMore: false, total: 3 }

  it('is named, inside pagination too, and a name that may be data is not', () => {
    const reading = cursorPages({ endpoint, items: 'items', pageSize: 10 })
    expect(reading.parse({ items: [], pagination }).unknownMembers).toEqual(['pagination.total'])
    const odd = { items: [], pagination: { hasMore: false }, meta: {}, 'ana@example.com': 1 }
    expect(reading.parse(odd).unknownMembers).toEqual(['meta', 'a name of 15 characters'])
  })

  it('is any pagination of a list that has none', () => {
    const whole = singlePage({ endpoint, items: 'items' })
    const after = startAfterPages({ endpoint, items: 'items', idField: 'id', pageSize: 10 })
    for (const reading of [whole, after]) {
      expect(reading.parse({ items: [], pagination }).unknownMembers).toEqual(['pagination'])
      expect(reading.parse({ items: [] }).unknownMembers).toBeUndefined()
    }
  })
})
