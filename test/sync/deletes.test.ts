import { describe, expect, it } from 'vitest'
import { FatalError, RejectedError, RetryableError } from '../../lib/core/errors.ts'
import type { Json } from '../../lib/core/json.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { approveDeletes } from '../../lib/sync/approve.ts'
import { listOf, nestedUser, scripted, user, users } from './support/source.ts'
import { createWorld } from './support/world.ts'

const stream = organizationUsers
async function known(count: number) {
  const world = createWorld()
  await world.sync(stream, listOf(users(count)))
  return world
}
const nothing = listOf([])

describe('records that a complete scan did not see', () => {
  it('are deleted: tombstoned, and gone for readers', async () => {
    const world = await known(100)
    expect((await world.sync(stream, listOf(users(80)))).counts).toMatchObject({ deleted: 20, unchanged: 80 })
    await world.publish([stream])
    expect(world.live(stream)).toHaveLength(80)
    expect(world.current(stream).size).toBe(80)
    const deletes = world.lake.publishedRows('organization_users').filter(({ _op }) => _op === 'delete')
    expect(deletes).toHaveLength(20)
    expect(deletes[0]).toMatchObject({ id: 'u80', email: null, _hash: null })
    expect((await world.records.get('organization_users', 'u80'))?.body).toContain('u80@example.com')
  })

  it.each([
    [10, 10, 'complete'],
    [12, 10, 'complete'],
    [11, 11, 'suspect'],
    [100, 20, 'complete'],
    [100, 21, 'suspect'],
  ])('of %i known: %i missing is %s', async (count, missing, status) => {
    const world = await known(count)
    const result = await world.sync(stream, listOf(users(count - missing)))
    expect(result).toMatchObject({ status, counts: { deleted: status === 'suspect' ? 0 : missing } })
    expect(world.live(stream)).toHaveLength(status === 'suspect' ? count : count - missing)
  })

  it('are written in more than one part when they are many', async () => {
    const world = createWorld({ settings: { flushRecords: 3 } })
    await world.sync(stream, listOf(users(10)))
    expect((await world.sync(stream, nothing)).counts).toMatchObject({ deleted: 10 })
    await world.publish([stream])
    expect([world.live(stream), [...world.current(stream)]]).toEqual([[], []])
  })

  it('lose their tombstone when they come back, and are new again', async () => {
    const world = await known(5)
    await world.sync(stream, listOf(users(4)))
    world.clock.advance(1_000)
    expect((await world.sync(stream, listOf(users(5)))).counts).toMatchObject({ inserted: 1, unchanged: 4 })
    await world.publish([stream])
    expect(world.current(stream).size).toBe(5)
    expect(await world.records.get('organization_users', 'u4')).toMatchObject({ deletedAt: null })
  })

  it('are in the next scan no longer known', async () => {
    const world = await known(5)
    await world.sync(stream, listOf(users(4)))
    expect((await world.sync(stream, listOf(users(4)))).counts).toMatchObject({ deleted: 0, unchanged: 4 })
  })
})

describe('a scan that should not be believed (DEL-01)', () => {
  it('that comes back empty for 400 known users withholds all deletes and says how to accept them', async () => {
    const world = await known(400)
    const result = await world.sync(stream, nothing)
    expect(result).toMatchObject({
      status: 'suspect',
      reason: expect.stringMatching(/400 of 400 .*platform-sync approve organization_users/),
      counts: { deleted: 0 },
    })
    expect(world.live(stream)).toHaveLength(400)
    const [, suspect] = await world.checkpoints.unpublished('organization_users')
    expect(suspect).toMatchObject({ status: 'suspect', withheldDeletes: 400, records: 400 })
    // Nothing was forgotten: the whole list is unchanged when it is back.
    expect((await world.sync(stream, listOf(users(400)))).counts).toMatchObject({ unchanged: 400, inserted: 0 })
  })

  it.each([
    ['500 until retries are spent on page 3 of 5', new RetryableError('500', { code: 'server_error', status: 500 })],
    ['401 on page 3 of 5', new FatalError('401', { code: 'unauthorized', status: 401 })],
    ['a body of another shape on page 3 of 5', new FatalError('?', { code: 'unexpected_body' })],
  ])('is not even complete: %s', async (_what, error) => {
    const world = await known(400)
    const source = scripted((token) => {
      if (token === 'p2') throw error
      return { records: users(1), nextToken: token === null ? 'p1' : 'p2' }
    })
    expect(await world.sync(stream, source)).toMatchObject({
      status: 'failed',
      reason: error.message,
      counts: { deleted: 0 },
    })
    expect(world.live(stream)).toHaveLength(400)
    expect(await world.checkpoints.read('organization_users')).toMatchObject({ scansCompleted: 1, status: 'failed' })
  })

  it('is skipped when the platform forbids the list, with the reason', async () => {
    const world = await known(20)
    const source = scripted(() => {
      throw new FatalError('403: not enabled', { code: 'forbidden', status: 403 })
    })
    expect(await world.sync(stream, source)).toMatchObject({ status: 'skipped', reason: '403: not enabled' })
    expect(world.live(stream)).toHaveLength(20)
  })

  it('holds a known record that no table can take: neither gone nor changed', async () => {
    const world = await known(3)
    const list = listOf([user(0), nestedUser(1)])
    expect((await world.sync(stream, list)).counts).toMatchObject({ quarantined: 1, deleted: 1, unchanged: 1 })
    expect(world.live(stream)).toEqual(['u0', 'u1'])
    expect((await world.sync(stream, listOf(users(2)))).counts).toMatchObject({ unchanged: 2, inserted: 0 })
  })

  it('withholds even one delete while a record came without a key', async () => {
    const world = await known(30)
    const result = await world.sync(stream, listOf([...users(29), { email: 'who@example.com' }]))
    expect(result).toMatchObject({ status: 'suspect', reason: expect.stringContaining('came without a readable id') })
    expect(world.live(stream)).toHaveLength(30)
  })
})

describe('approving withheld deletes', () => {
  it('deletes what is still missing, and publishes it', async () => {
    const world = await known(40)
    await world.sync(stream, listOf(users(10)))
    // Ten of them are back, so that thirty are not missing any more.
    expect(await world.sync(stream, listOf(users(20)))).toMatchObject({ status: 'suspect' })
    const approved = await approveDeletes(stream, world.newRun(), world.deps(nothing))
    expect(approved).toMatchObject({ status: 'complete', counts: { received: 0, deleted: 20 } })
    await world.publish([stream])
    expect(world.live(stream)).toHaveLength(20)
    expect(world.current(stream).size).toBe(20)
    expect((await world.sync(stream, listOf(users(20)))).counts).toMatchObject({ unchanged: 20, deleted: 0 })
  })

  it('is refused when nothing is withheld, and leaves the stream free', async () => {
    const world = await known(5)
    const refused = approveDeletes(stream, world.newRun(), world.deps(nothing))
    await expect(refused).rejects.toMatchObject({ code: 'approval_not_possible' })
    expect(await world.sync(stream, listOf(users(5)))).toMatchObject({ status: 'complete' })
  })

  it('is refused while a scan is in progress', async () => {
    const world = await known(40)
    await world.sync(stream, nothing)
    const cut = scripted((token) => {
      if (token !== null) throw new RetryableError('500', { code: 'server_error' })
      return { records: users(1), nextToken: 'p1' }
    })
    await world.sync(stream, cut)
    const refused = approveDeletes(stream, world.newRun(), world.deps(nothing))
    await expect(refused).rejects.toThrow('a scan is in progress')
  })
})

describe('a list that had to be read anew (DEL-06)', () => {
  /** Reads half a list, is refused, and reads it again as it is by then. */
  function readTwice(first: Json[], then: Json[], refused = 1) {
    return scripted((token, request) => {
      if (request <= refused * 2 && token === null) return { records: first, nextToken: `p${request}` }
      if (token !== null) throw new RejectedError('404', { code: 'not_found', status: 404 })
      return { records: then, nextToken: null }
    })
  }

  it('deletes what only the broken pass saw', async () => {
    const world = await known(10)
    const result = await world.sync(stream, readTwice(users(10), users(9)))
    expect(result).toMatchObject({
      status: 'complete',
      counts: { received: 19, unchanged: 10, duplicate: 9, deleted: 1 },
    })
    expect(world.live(stream)).toHaveLength(9)
    expect((await world.sync(stream, listOf(users(9)))).counts).toMatchObject({ unchanged: 9, deleted: 0 })
  })

  it('takes back what only the broken pass brought', async () => {
    const world = createWorld({ settings: { flushRecords: 1 } })
    const result = await world.sync(stream, readTwice(users(10), users(9)))
    expect(result).toMatchObject({ status: 'complete', counts: { inserted: 10, duplicate: 9, deleted: 1 } })
    const { scans } = await world.publish([stream])
    expect(scans).toMatchObject([{ records: 9 }])
    expect([...world.current(stream).keys()]).toEqual(world.live(stream))
    expect(world.live(stream)).not.toContain('u9')
  })

  it('deletes nothing when the second pass lacks too much, and what is back is not missing', async () => {
    for (const before of [0, 40]) {
      const world = createWorld({ settings: { flushRecords: 7 } })
      if (before > 0) await world.sync(stream, listOf(users(before)))
      const result = await world.sync(stream, readTwice(users(40), users(20)))
      expect(result).toMatchObject({
        status: 'suspect',
        counts: { deleted: 0 },
        reason: expect.stringContaining('20 of 40'),
      })
      expect(world.live(stream)).toHaveLength(40)
      expect((await world.sync(stream, listOf(users(38)))).counts).toMatchObject({ unchanged: 38, deleted: 2 })
    }
  })

  it('goes by the pass that ends the list, also when another run ends it', async () => {
    const world = createWorld({ settings: { flushRecords: 1 } })
    await world.sync(stream, listOf(users(10)))
    const failing = scripted((token, request) => {
      if (request === 1) return { records: users(10), nextToken: 'p1' }
      if (token === 'p1') throw new RejectedError('400', { code: 'bad_request', status: 400 })
      if (token === null) return { records: users(5), nextToken: 'p2' }
      throw new RetryableError('500', { code: 'server_error', status: 500 })
    })
    expect(await world.sync(stream, failing)).toMatchObject({ status: 'failed' })
    const rest = scripted((token) => {
      expect(token).toBe('p2')
      return { records: users(9).slice(5), nextToken: null }
    })
    expect((await world.sync(stream, rest)).counts).toMatchObject({ received: 19, deleted: 1 })
    expect(world.live(stream)).not.toContain('u9')
  })
})
