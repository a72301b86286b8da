import { describe, expect, it } from 'vitest'
import { deadlineAfter } from '../../lib/core/deadline.ts'
import { RetryableError } from '../../lib/core/errors.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import type { StreamResult } from '../../lib/sync/context.ts'
import type { PartPath } from '../../lib/sync/ports.ts'
import { chunks, listOf, nestedUser, pagesOf, scripted, user, users } from './support/source.ts'
import { createWorld, type World } from './support/world.ts'

const stream = organizationUsers
/** A list whose pages take a while on the world's clock. */
function slow(world: World, pages: ReturnType<typeof users>[], pageMs: number) {
  return scripted((token) => {
    world.clock.advance(pageMs)
    const at = token === null ? 0 : Number(token.slice(1))
    return { records: pages[at] ?? [], nextToken: at + 1 < pages.length ? `p${at + 1}` : null }
  })
}
function rowsOf(world: World) {
  return world.lake.publishedRows('organization_users')
}

describe('an attempt whose time runs out', () => {
  it('stops before a page that would not fit, and keeps what it read (SQS-11)', async () => {
    const world = createWorld({ settings: { marginMs: 1_000 } })
    const source = slow(world, chunks(users(50), 10), 8_000)
    // 30 s allow three pages of 8 s; with 6 s left a fourth is not begun.
    const result = await world.sync(stream, source, { deadline: deadlineAfter(world.clock, 3_600_000 + 30_000) })
    expect(result).toMatchObject({ status: 'paused', reason: null, counts: { pages: 3, received: 30 } })
    expect(source.tokens).toHaveLength(3)
    expect(await world.checkpoints.read('organization_users')).toMatchObject({
      scan: { position: { at: 'page', token: 'p3' }, counts: { inserted: 30 } },
    })
  })

  it('ends, after three pauses, as a sync that was never disturbed', async () => {
    const outcome = async (pauses: number) => {
      const world = createWorld({ settings: { flushRecords: 7, marginMs: 1 } })
      const list = [...users(60), user(3), nestedUser(100)]
      await world.sync(stream, listOf(users(65), 10))
      const tokens: (string | null)[] = []
      let result: StreamResult | null = null
      let attempts = 0
      for (; result?.status !== 'complete'; attempts++) {
        let looks = 0
        const remainingMs = () => (attempts < pauses && ++looks > 2 ? 0 : 60_000)
        const source = listOf(list, 10)
        result = await world.sync(stream, source, { runId: 'run', deadline: { remainingMs } })
        tokens.push(...source.tokens)
      }
      const manifest = await world.publish([stream])
      const { apiCalls: _calls, ...counts } = result?.counts ?? ({} as never)
      const rows = rowsOf(world).map(({ id, _op, _hash, _scan_id }) => [id, _op, _hash, _scan_id].join())
      return {
        attempts,
        tokens,
        counts,
        rows: rows.sort(),
        live: world.live(stream),
        records: manifest.scans.map((scan) => scan.records),
      }
    }
    const { attempts, ...disturbed } = await outcome(3)
    const { attempts: once, ...undisturbed } = await outcome(0)
    expect([attempts, once]).toEqual([4, 1])
    expect(disturbed).toEqual(undisturbed)
    expect(disturbed.counts).toMatchObject({ deleted: 5, duplicate: 1, quarantined: 1 })
  })

  it('keeps its checkpoint small however many pages and attempts it took (DDB-05)', async () => {
    const world = createWorld({ settings: { flushRecords: 50 } })
    const sizes: number[] = []
    const checkpoints: typeof world.checkpoints = {
      ...world.checkpoints,
      save: async (checkpoint, lease) => {
        sizes.push(JSON.stringify(checkpoint).length)
        await world.checkpoints.save(checkpoint, lease)
      },
    }
    const source = scripted((token) => {
      const at = Number(token ?? 0)
      return { records: [{ id: `u${at}` }], nextToken: at < 20_000 ? String(at + 1) : null }
    })
    let result: StreamResult | null = null
    for (let attempt = 0; result?.status !== 'complete' && attempt < 20; attempt++) {
      let looks = 0
      const remainingMs = () => (++looks > 2_500 ? 0 : 60_000)
      result = await world.sync(stream, source, { runId: 'run', checkpoints, deadline: { remainingMs } })
    }
    expect(result).toMatchObject({ status: 'complete', counts: { inserted: 20_001 } })
    expect(sizes.length).toBeGreaterThan(400)
    expect(Math.max(...sizes)).toBeLessThan(2_000)
  })

  it('writes when time has gone by, even if it read little', async () => {
    const world = createWorld({ settings: { flushMs: 30_000 } })
    const parts: number[] = []
    const index = {
      ...world.index,
      writePart: async (path: PartPath, ...rest: [Uint8Array, AbortSignal]) => {
        parts.push(path.part)
        await world.index.writePart(path, ...rest)
      },
    }
    await world.sync(stream, slow(world, chunks(users(10), 1), 10_000), { index })
    expect(parts.length).toBeGreaterThanOrEqual(3)
    expect(parts.length).toBeLessThanOrEqual(5)
  })

  it('writes when the buffer holds enough bytes', async () => {
    const world = createWorld({ settings: { flushBytes: 5_000 } })
    const big = users(20).map((each) => ({ ...each, firstName: 'x'.repeat(1_000) }))
    await world.sync(stream, listOf(big, 1))
    const parts = [...world.lake.files.values()]
    expect(parts.map((part) => 'rows' in part && part.rows.length)).toEqual([5, 5, 5, 5])
  })
})

describe('a platform that says wait (HTTP-03)', () => {
  it('longer than there is time is not waited for: what was read is kept and the caller told', async () => {
    const world = createWorld()
    const wait = new RetryableError('429', { code: 'rate_limited', status: 429, retryAfterMs: 600_000 })
    const source = scripted((token) => {
      if (token === 'p1') throw wait
      return { records: users(3), nextToken: 'p1' }
    })
    const before = world.clock.now()
    const result = await world.sync(stream, source)
    expect(result).toMatchObject({ status: 'rate_limited', retryAfterMs: 600_000, counts: { inserted: 3 } })
    expect(world.clock.now()).toBe(before + 3_600_000)
    expect(await world.checkpoints.read('organization_users')).toMatchObject({
      status: 'rate_limited',
      scan: { position: { at: 'page', token: 'p1' }, counts: { received: 3 } },
    })
    const next = pagesOf(users(3), [user(9)])
    expect(await world.sync(stream, next)).toMatchObject({ status: 'complete', counts: { inserted: 4 } })
    expect(next.tokens).toEqual(['p1'])
  })

  it('is not what a 429 without a time to wait means once retries are spent', async () => {
    const world = createWorld()
    const source = scripted(() => {
      throw new RetryableError('429', { code: 'rate_limited', status: 429 })
    })
    expect(await world.sync(stream, source)).toMatchObject({ status: 'failed', retryAfterMs: null })
  })
})

describe('a store that fails', () => {
  it('leaves the checkpoint at the last page that is durable, and the rest comes once (PAG-13)', async () => {
    const world = createWorld({ settings: { flushRecords: 2 } })
    let writes = 0
    const lake: typeof world.lake = {
      ...world.lake,
      writeRows: async (...args) => {
        if (++writes >= 2) throw new RetryableError('S3 is out', { code: 'storage_unavailable' })
        return world.lake.writeRows(...args)
      },
    }
    const list = () => listOf(users(6), 2)
    expect(await world.sync(stream, list(), { lake })).toMatchObject({ status: 'failed', reason: 'S3 is out' })
    expect(await world.checkpoints.read('organization_users')).toMatchObject({
      scan: { position: { at: 'page', token: 'p1' }, counts: { received: 2 } },
    })
    const again = list()
    expect(await world.sync(stream, again)).toMatchObject({ status: 'complete', counts: { received: 6, inserted: 6 } })
    expect(again.tokens).toEqual(['p1', 'p2'])
    await world.publish([stream])
    expect(
      rowsOf(world)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(users(6).map(({ id }) => id))
  })

  it('surfaces a bug with its stack, after giving the lease up', async () => {
    const world = createWorld()
    const source = scripted(() => {
      throw new TypeError('x is not a function')
    })
    await expect(world.sync(stream, source)).rejects.toThrow(TypeError)
    expect(await world.sync(stream, listOf(users(1)))).toMatchObject({ status: 'complete' })
  })
})
