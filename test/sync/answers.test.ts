import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { FatalError } from '../../lib/core/errors.ts'
import { createPatience } from '../../lib/core/patience.ts'
import { computers } from '../../lib/streams/computers.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { readinessReports } from '../../lib/streams/readiness-reports.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import type { Source } from '../../lib/sync/ports.ts'
import { json, type Seen, stubServer, text } from '../platform/stub-server.ts'
import { sourceOf } from './support/simulated.ts'
import { pageOf, session, users } from './support/source.ts'
import { createWorld, type World } from './support/world.ts'

/** A platform with one list by cursor; `answer` bends a page, or answers something else by returning nothing. */
async function platformOf(records: unknown[], items: string, answer: Bend = (body) => body) {
  const { url, seen } = await stubServer((response, request) => {
    const { limit = '', cursor = '0' } = request.query
    const end = Number(cursor) + Number(limit)
    const hasMore = end < records.length
    const pagination = { hasMore, ...(hasMore ? { nextCursor: `${end}` } : {}) }
    const bent = answer({ [items]: records.slice(Number(cursor), end), pagination }, { request, response })
    if (bent) json(bent)(response, request, null as never)
  })
  return { source: sourceOf({ appUrl: url, baseUrl: url }), seen }
}
type Bend = (body: Record<string, unknown>, asked: { request: Seen; response: ServerResponse }) => object | undefined

const list = Array.from({ length: 300 }, (_, n) => session(n))
function listed(body: Record<string, unknown>) {
  return body.sessions as unknown[]
}

describe('an answer that says it is partial (DEL-05)', () => {
  it('fails the stream although its records go down by a tenth only, and deletes nothing', async () => {
    const world = createWorld()
    const { source } = await platformOf(list, 'sessions')
    expect(await world.sync(sessions, source)).toMatchObject({ status: 'complete' })
    const partial = await platformOf(list, 'sessions', (body) => ({
      ...body,
      sessions: listed(body).filter((_, at) => at % 10 !== 0),
      errors: [{ message: 'shard 3 timed out' }],
      incompleteResults: true,
    }))
    const result = await world.sync(sessions, partial.source)
    expect(result).toMatchObject({ status: 'failed', counts: { received: 0, deleted: 0 } })
    expect(result.reason).toContain('not whole: errors, incompleteResults: shard 3 timed out')
    expect(partial.seen).toHaveLength(3)
    expect(world.live(sessions)).toHaveLength(300)
    expect(await world.sync(sessions, source)).toMatchObject({ status: 'complete', counts: { unchanged: 300 } })
  })

  it('is asked for again, and is the list once it says so no more', async () => {
    let gaps = 2
    const { source } = await platformOf(list, 'sessions', (body, { request }) =>
      request.query.cursor === '100' && gaps-- > 0 ? { ...body, sessions: [], partial: true } : body,
    )
    const result = await createWorld().sync(sessions, source)
    expect(result).toMatchObject({ status: 'complete', counts: { inserted: 300, pages: 3, apiCalls: 5 } })
  })
})

describe('what an answer holds beside its list', () => {
  it('is told once a scan, by a warning and in the record of the run, over several attempts', async () => {
    const world = createWorld()
    const { source } = await platformOf(list, 'sessions', (body) => ({ ...body, total: 300, errors: [] }))
    let looks = 0
    const deadline = { remainingMs: () => (++looks > 2 ? 0 : 60_000) }
    expect(await world.sync(sessions, source, { runId: 'run', deadline })).toMatchObject({ status: 'paused' })
    const result = await world.sync(sessions, source, { runId: 'run' })
    expect(result).toMatchObject({ status: 'complete', notices: [{ severity: 'info', code: 'unknown_members' }] })
    expect(result.notices?.[0]?.about).toContain('total (on 3 pages), errors (on 3 pages)')
    expect(world.warnings.filter((line) => line.includes('the API has changed'))).toHaveLength(1)
  })

  it('is not told of a list that is as it was', async () => {
    const { source } = await platformOf(list, 'sessions')
    expect(await createWorld().sync(sessions, source)).toMatchObject({ status: 'complete', notices: [] })
  })
})

describe('a page that is too heavy (HTTP-15)', () => {
  const tooHeavy = (most: number, status = 504): Bend => {
    return (body, { request, response }) => {
      if (Number(request.query.limit) <= most) return body
      response.writeHead(status).end()
      return undefined
    }
  }
  const limits = (seen: Seen[]) => [...new Set(seen.map(({ query }) => query.limit))]

  it.each([502, 504])(
    'by %d is asked for in smaller ones, and the size that worked is kept for the scan',
    async (status) => {
      const world = createWorld()
      const { source, seen } = await platformOf(list, 'sessions', tooHeavy(25, status))
      const result = await world.sync(sessions, source)
      expect(result).toMatchObject({ status: 'complete', counts: { inserted: 300, pages: 12 } })
      expect(limits(seen)).toEqual(['100', '50', '25'])
      expect(seen).toHaveLength(2 * 3 + 12)
      expect(result.notices).toMatchObject([{ code: 'smaller_pages', about: 'sessions was read in pages of 25' }])
      expect(world.warnings.filter((line) => line.includes('too heavy'))).toHaveLength(2)
      // The next scan begins with the full size, for the platform may have recovered.
      const next = await platformOf(list, 'sessions')
      await world.sync(sessions, next.source)
      expect(limits(next.seen)).toEqual(['100'])
    },
  )

  it('keeps the size over attempts', async () => {
    const world = createWorld()
    const { source, seen } = await platformOf(list, 'sessions', tooHeavy(25))
    let looks = 0
    const deadline = { remainingMs: () => (++looks > 5 ? 0 : 60_000) }
    expect(await world.sync(sessions, source, { runId: 'run', deadline })).toMatchObject({ status: 'paused' })
    const before = seen.length
    expect(await world.sync(sessions, source, { runId: 'run' })).toMatchObject({ status: 'complete' })
    expect(limits(seen.slice(before))).toEqual(['25'])
  })

  it('by its size is asked for in smaller ones, too', async () => {
    const asked: unknown[] = []
    const fetchPage: Source['fetchPage'] = async (_stream, _token, { pageSize = 0 }) => {
      asked.push(pageSize)
      if (pageSize > 12) throw new FatalError('more than 64 MB', { code: 'too_large' })
      return pageOf({ records: list.slice(0, 9), nextToken: null })
    }
    expect(await createWorld().sync(sessions, { fetchPage })).toMatchObject({ status: 'complete' })
    expect(asked).toEqual([100, 50, 25, 12])
  })

  it('goes down to one record, and fails when even that is too much', async () => {
    const { source, seen } = await platformOf(list.slice(0, 3), 'sessions', tooHeavy(1))
    expect(await createWorld().sync(sessions, source)).toMatchObject({ status: 'complete', counts: { inserted: 3 } })
    expect(limits(seen)).toEqual(['100', '50', '25', '12', '6', '3', '1'])
    const dead = await platformOf(list, 'sessions', tooHeavy(0))
    expect(await createWorld().sync(sessions, dead.source)).toMatchObject({ status: 'failed' })
  })

  it('is not what another error means, nor a list that comes whole', async () => {
    const broken = await platformOf(list, 'sessions', tooHeavy(25, 500))
    expect(await createWorld().sync(sessions, broken.source)).toMatchObject({ status: 'failed' })
    expect(broken.seen).toHaveLength(3)
    const { url, seen } = await stubServer(text('', 504))
    const result = await createWorld().sync(computers, sourceOf({ appUrl: url, baseUrl: url }))
    expect(result).toMatchObject({ status: 'failed' })
    expect(seen).toHaveLength(3)
  })

  it('of one record without its id is no end of the readiness list', () => {
    const { reading } = readinessReports as never as { reading: { parse(body: object, size?: number): unknown } }
    expect(() => reading.parse({ reports: [{ reportId: null }] }, 1)).toThrow(/none of 1 reports/)
    expect(reading.parse({ reports: [{ reportId: null }] })).toMatchObject({ nextToken: null })
  })
})

it('a page token of many KB comes back byte for byte (PAG-14)', async () => {
  const tokens = [1, 2].map((n) => 'A+/='.repeat(6_400) + n)
  const pages = [list.slice(0, 100), list.slice(100, 200), list.slice(200, 250)]
  const { url, seen } = await stubServer((response, request) => {
    const at = 'cursor' in request.query ? tokens.indexOf(request.query.cursor ?? '') + 1 : 0
    const pagination = { hasMore: at < 2, ...(at < 2 ? { nextCursor: tokens[at] } : {}) }
    json({ sessions: pages[at], pagination })(response, request, null as never)
  })
  const result = await createWorld().sync(sessions, sourceOf({ appUrl: url, baseUrl: url }))
  expect(result).toMatchObject({ status: 'complete', counts: { received: 250, inserted: 250 } })
  expect(seen.map(({ query }) => query.cursor)).toEqual([undefined, ...tokens])
})

describe('a wait that the platform dictates (WAIT-01)', () => {
  const month = 2_592_000
  const limited = (retryAfter: string): Bend => {
    return (body, { request, response }) => {
      if (request.query.cursor !== '200') return body
      response.writeHead(429, { 'retry-after': retryAfter }).end()
      return undefined
    }
  }
  const sync = (world: World, source: Awaited<ReturnType<typeof platformOf>>['source']) =>
    world.sync(organizationUsers, source, { patience: createPatience(60_000) })

  it.each([`${month}`, '90', '90000', new Date(Date.now() + month * 1000).toUTCString()])(
    '(Retry-After %s) ends the stream with the time to go on, and no request is sent before it',
    async (retryAfter) => {
      const world = createWorld()
      const { source, seen } = await platformOf(users(300), 'users', limited(retryAfter))
      const result = await sync(world, source)
      const waitMs = result.retryAfterMs ?? 0
      const notBefore = world.clock.now() + waitMs
      expect(result).toMatchObject({ status: 'rate_limited', counts: { inserted: 200 } })
      expect(result.reason).toContain(`no request is sent before ${new Date(notBefore).toISOString()}`)
      expect(await world.checkpoints.read('organization_users')).toMatchObject({ notBefore })
      expect(seen).toHaveLength(3)

      world.clock.advance(Math.min(waitMs - 1, 1_000))
      const early = await world.sync(organizationUsers, source, { runId: 'later' })
      expect(early).toMatchObject({ status: 'rate_limited', reason: result.reason, counts: null })
      expect(early.retryAfterMs).toBe(notBefore - world.clock.now())
      expect(seen).toHaveLength(3)

      world.clock.advance(early.retryAfterMs ?? 0)
      const healed = await platformOf(users(300), 'users')
      expect(await sync(world, healed.source)).toMatchObject({ status: 'complete', counts: { received: 300 } })
      expect((await world.checkpoints.read('organization_users'))?.notBefore).toBeUndefined()
    },
  )

  it('is forgotten by a reset', async () => {
    const world = createWorld()
    const { source } = await platformOf(users(300), 'users', limited(`${month}`))
    await sync(world, source)
    await world.checkpoints.reset('organization_users', { index: false, now: world.clock.now() })
    const healed = await platformOf(users(300), 'users')
    expect(await sync(world, healed.source)).toMatchObject({ status: 'complete' })
  })
})
