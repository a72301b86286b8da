import { describe, expect, it } from 'vitest'
import { FatalError, RejectedError, RetryableError } from '../../lib/core/errors.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { chunks, pagesOf, scripted, user, users } from './support/source.ts'
import { createWorld } from './support/world.ts'

function expired() {
  return new RejectedError('400 invalid_cursor', { code: 'bad_request', status: 400 })
}

describe('a page token that comes again', () => {
  it('fails the stream after one repeated request, and deletes nothing (PAG-01)', async () => {
    const world = createWorld()
    await world.sync(organizationUsers, pagesOf(users(5)))
    const stuck = scripted(() => ({ records: [user(0)], nextToken: 'c1' }))
    const result = await world.sync(organizationUsers, stuck)
    expect(result).toMatchObject({ status: 'failed', reason: expect.stringContaining('pagination stalled') })
    expect(stuck.tokens).toEqual([null, 'c1'])
    expect(world.live(organizationUsers)).toHaveLength(5)
    expect(await world.checkpoints.unpublished('organization_users')).toHaveLength(1)
  })

  it('lets the next run read the whole list (PAG-01)', async () => {
    const world = createWorld()
    await world.sync(
      organizationUsers,
      scripted(() => ({ records: [user(0)], nextToken: 'c1' })),
    )
    const healed = pagesOf([user(0)], [user(1)], [user(2)])
    expect(await world.sync(organizationUsers, healed)).toMatchObject({ status: 'complete' })
    expect(healed.tokens).toEqual([null, 'p1', 'p2'])
    expect(world.live(organizationUsers)).toEqual(['u0', 'u1', 'u2'])
  })

  it('is known from several pages back, even when an earlier attempt read those (PAG-01)', async () => {
    const world = createWorld({ settings: { flushRecords: 1 } })
    const circle = (token: string | null) => {
      const at = token === null ? 0 : Number(token.slice(1))
      return { records: [user(at)], nextToken: at === 5 ? 'p2' : `p${at + 1}` }
    }
    let looks = 0
    const deadline = { remainingMs: () => (++looks > 4 ? 0 : 60_000) }
    expect(await world.sync(organizationUsers, scripted(circle), { runId: 'run', deadline })).toMatchObject({
      status: 'paused',
    })
    const rest = scripted(circle)
    expect(await world.sync(organizationUsers, rest, { runId: 'run' })).toMatchObject({ status: 'failed' })
    expect(rest.tokens).toEqual(['p4', 'p5'])
  })
})

describe('a page token that the platform no longer takes', () => {
  it('begins the list again, counts what comes twice once, and deletes nothing that the broken pass missed (PAG-05)', async () => {
    const world = createWorld()
    await world.sync(organizationUsers, pagesOf(users(6)))
    const pages = chunks(users(6), 2)
    let broken = false
    const source = scripted((token) => {
      if (token === 'p2' && !broken) {
        broken = true
        throw expired()
      }
      const at = token === null ? 0 : Number(token.slice(1))
      return { records: pages[at] ?? [], nextToken: at < 2 ? `p${at + 1}` : null }
    })
    const result = await world.sync(organizationUsers, source)
    expect(source.tokens).toEqual([null, 'p1', 'p2', null, 'p1', 'p2'])
    expect(result).toMatchObject({
      status: 'complete',
      counts: { received: 10, unchanged: 6, duplicate: 4, inserted: 0, deleted: 0 },
    })
    expect(world.live(organizationUsers)).toHaveLength(6)
  })

  it('is given up after three restarts in a run, without deletes, and tried again in the next (PAG-05)', async () => {
    const world = createWorld()
    await world.sync(organizationUsers, pagesOf(users(6)))
    const source = scripted((token) => {
      if (token !== null) throw expired()
      return { records: [user(0)], nextToken: 'p1' }
    })
    const result = await world.sync(organizationUsers, source)
    expect(result).toMatchObject({ status: 'failed', reason: expect.stringContaining('refused a page token 4 times') })
    expect(source.tokens.filter((token) => token === null)).toHaveLength(4)
    expect(world.live(organizationUsers)).toHaveLength(6)
    expect(await world.sync(organizationUsers, pagesOf(users(6)))).toMatchObject({
      status: 'complete',
      counts: { deleted: 0 },
    })
  })

  it('does not keep a checkpoint alive that can never go on (PAG-05)', async () => {
    const world = createWorld({ settings: { flushRecords: 1 } })
    const stop = new RetryableError('503', { code: 'server_error' })
    const first = scripted((token) => {
      if (token === 'c9') throw stop
      return { records: [user(1)], nextToken: 'c9' }
    })
    await world.sync(organizationUsers, first)
    const next = scripted((token) => {
      if (token === 'c9') throw expired()
      return { records: [user(1), user(2)], nextToken: null }
    })
    expect(await world.sync(organizationUsers, next)).toMatchObject({ status: 'complete' })
    expect(next.tokens).toEqual(['c9', null])
    expect(world.live(organizationUsers)).toEqual(['u1', 'u2'])
  })

  it('is an error of its own on the first page, where there is no token', async () => {
    const world = createWorld()
    const source = scripted(() => {
      throw expired()
    })
    expect(await world.sync(organizationUsers, source)).toMatchObject({ status: 'failed' })
    expect(source.tokens).toEqual([null])
  })
})

describe('a list without end', () => {
  it.each([
    ['empty pages', []],
    ['the same records', [user(0)]],
  ])('of %s and fresh tokens is stalled after a hundred pages', async (_what, records) => {
    const world = createWorld()
    const source = scripted((_token, request) => ({
      records: request === 1 ? [user(0)] : records,
      nextToken: `t${request}`,
    }))
    const result = await world.sync(organizationUsers, source)
    expect(result).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('100 pages'),
      counts: { pages: 101 },
    })
  })

  it('is no such list when a new record comes now and then', async () => {
    const world = createWorld()
    const source = scripted((_token, request) => ({
      records: request % 90 === 1 ? [user(request)] : [],
      nextToken: request < 300 ? `t${request}` : null,
    }))
    expect(await world.sync(organizationUsers, source)).toMatchObject({ status: 'complete', counts: { inserted: 4 } })
  })
})

describe('pages', () => {
  it('may be short or empty in the middle of a list (PAG-06)', async () => {
    const world = createWorld()
    const source = pagesOf(users(3), [], [user(3)], [], users(5))
    expect(await world.sync(organizationUsers, source)).toMatchObject({
      counts: { inserted: 5, duplicate: 4, pages: 5 },
    })
  })

  it('of a cursor list that neither end nor go on are an error', async () => {
    const world = createWorld()
    const odd = scripted(
      () => ({ records: users(1), nextToken: null }),
      () => false,
    )
    expect(await world.sync(organizationUsers, odd)).toMatchObject({ status: 'failed' })
  })

  it('are requested one ahead, and none after a page that can not be understood (PAG-03)', async () => {
    const world = createWorld({ settings: { flushRecords: 1 } })
    const source = scripted((token) => {
      if (token === 'p2') throw new FatalError('hasMore without nextCursor', { code: 'bad_pagination' })
      return { records: [user(token ?? 0)], nextToken: token === null ? 'p1' : 'p2' }
    })
    expect(await world.sync(organizationUsers, source)).toMatchObject({ status: 'failed' })
    expect(source.tokens).toEqual([null, 'p1', 'p2'])
    const again = scripted(() => ({ records: [user(9)], nextToken: null }))
    await world.sync(organizationUsers, again)
    expect(again.tokens).toEqual(['p2'])
  })
})
