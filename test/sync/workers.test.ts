import { describe, expect, it } from 'vitest'
import { RetryableError } from '../../lib/core/errors.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import type { StreamResult } from '../../lib/sync/context.ts'
import { listOf, pagesOf, scripted, user, users } from './support/source.ts'
import { createWorld } from './support/world.ts'

const stream = organizationUsers

describe('two workers at one stream (SQS-10)', () => {
  it('are one: the second sends no request and says who is at it', async () => {
    const world = createWorld()
    const second = listOf(users(2))
    let other: StreamResult | undefined
    const first = scripted(async () => {
      other = await world.sync(stream, second)
      return { records: users(2), nextToken: null }
    })
    // The clock moves an hour with each new run; this lease is longer.
    const settings = { leaseMs: 100_000_000 }
    expect(await world.sync(stream, first, { settings })).toMatchObject({ status: 'complete' })
    expect(other).toMatchObject({ status: 'running', reason: expect.stringContaining('worker-1'), counts: null })
    expect(second.tokens).toEqual([])
  })

  it('one after the other in one run read the list once', async () => {
    const world = createWorld()
    const first = await world.sync(stream, listOf(users(2)), { runId: 'run' })
    const again = listOf(users(2))
    expect(await world.sync(stream, again, { runId: 'run' })).toEqual(first)
    expect(again.tokens).toEqual([])
    expect(await world.sync(stream, again, { runId: 'later' })).toMatchObject({ counts: { unchanged: 2 } })
  })

  it('let the later one go on when the first has stalled past its lease, and the first writes nothing more', async () => {
    const world = createWorld({ settings: { leaseMs: 60_000, flushRecords: 1 } })
    let later: StreamResult | undefined
    const stalling = scripted(async (token) => {
      if (token === null) return { records: [user(0)], nextToken: 'p1' }
      // Stalls for an hour; meanwhile another run takes over.
      later = await world.sync(stream, pagesOf([user(0)], [user(1, { firstName: 'now' })]))
      return { records: [user(1, { firstName: 'stale' })], nextToken: null }
    })
    expect(await world.sync(stream, stalling)).toMatchObject({ status: 'running' })
    expect(later).toMatchObject({ status: 'complete' })
    await world.publish([stream])
    expect(world.current(stream).get('u1')?.first_name).toBe('now')
    expect((await world.records.get('organization_users', 'u1'))?.body).toContain('now')
    expect(await world.checkpoints.read('organization_users')).toMatchObject({ status: 'complete', scan: null })
  })

  it('that stalls while it loads what is known leaves the stream to the one that took over', async () => {
    const world = createWorld()
    await world.sync(stream, listOf(users(2)))
    const index = { ...world.index }
    index.openIndex = async () => {
      index.openIndex = world.index.openIndex
      world.clock.advance(world.deps(listOf([])).settings.leaseMs)
      await world.sync(stream, listOf(users(3)))
      return null
    }
    const late = await world.sync(stream, listOf(users(1)), { index })
    expect(late).toMatchObject({ status: 'running', reason: expect.stringContaining('another worker') })
    expect([world.live(stream), world.warnings]).toEqual([['u0', 'u1', 'u2'], []])
  })

  it('need not wait for each other when the first could not even begin', async () => {
    const world = createWorld({ settings: { leaseMs: 100_000_000 } })
    await world.sync(stream, listOf(users(2)))
    const unreadable = async () => {
      throw new RetryableError('storage is away', { code: 'storage_unavailable' })
    }
    const index = { ...world.index, openIndex: unreadable }
    await expect(world.sync(stream, listOf(users(2)), { index })).rejects.toThrow('storage is away')
    expect(await world.sync(stream, listOf(users(2)))).toMatchObject({ status: 'complete' })
  })
})
