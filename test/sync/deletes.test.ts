import { describe, expect, it } from 'vitest'
import { FatalError, RetryableError } from '../../lib/core/errors.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { approveDeletes } from '../../lib/sync/approve.ts'
import { listOf, scripted, user, users } from './support/source.ts'
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

  it('holds a known record that came broken: neither gone nor changed', async () => {
    const world = await known(3)
    const list = listOf([user(0), user(1, { email: 5 })])
    expect((await world.sync(stream, list)).counts).toMatchObject({ quarantined: 1, deleted: 1, unchanged: 1 })
    expect(world.live(stream)).toEqual(['u0', 'u1'])
    expect((await world.sync(stream, listOf(users(2)))).counts).toMatchObject({ unchanged: 2, inserted: 0 })
  })

  it('withholds even one delete while a record came without a key', async () => {
    const world = await known(30)
    const result = await world.sync(stream, listOf([...users(29), { email: 'who@example.com' }]))
    expect(result).toMatchObject({ status: 'suspect', reason: expect.stringContaining('without a readable id') })
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
