import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { RetryableError } from '../../lib/core/errors.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { newCheckpoint } from '../../lib/sync/checkpoint.ts'
import { loadKnown } from '../../lib/sync/load-known.ts'
import { listOf, nestedUser, pagesOf, scripted, user, users } from './support/source.ts'
import { createWorld, type World } from './support/world.ts'

const stream = organizationUsers
const name = stream.name
async function known(count: number, settings = {}) {
  const world = createWorld({ settings })
  await world.sync(stream, listOf(users(count)))
  await world.publish([stream])
  return world
}
function without(world: World) {
  return { index: { ...world.index, openIndex: async () => null } }
}
function tombstones(world: World) {
  return world.lake.publishedRows(name).flatMap(({ id, _op }) => (_op === 'delete' ? [id] : []))
}

describe('an index that is lost', () => {
  const damages = {
    missing: async () => null,
    unreadable: async () => Buffer.from('garbage'),
    'cut off': async (bytes: Uint8Array | null) => (bytes as Uint8Array).subarray(0, 200),
  }

  it.each(Object.entries(damages))(
    '(%s) is made again from the records table: all is written anew, and what is gone is deleted',
    async (_how, damage) => {
      const world = await known(20)
      const openIndex = async (key: string) => {
        const bytes = await damage(await world.index.readIndex(key))
        return bytes && Readable.from([bytes])
      }
      const index = { ...world.index, openIndex }
      const result = await world.sync(stream, listOf([...users(15), user(30)]), { index })
      expect(result).toMatchObject({ status: 'complete', counts: { inserted: 1, updated: 15, deleted: 5 } })
      expect(world.warnings.join()).toMatch(/unreadable.*every record is written anew/)
      expect((await world.sync(stream, listOf([...users(15), user(30)]))).counts).toMatchObject({ unchanged: 16 })
      await world.publish([stream])
      expect(world.current(stream).size).toBe(16)
      expect(world.live(stream)).toHaveLength(16)
      expect(tombstones(world)).toEqual(['u15', 'u16', 'u17', 'u18', 'u19'])
    },
  )

  it('by a reset is made again in the same way', async () => {
    const world = await known(20)
    await world.checkpoints.reset(name, { index: true, now: world.clock.now() })
    const result = await world.sync(stream, listOf(users(18)))
    expect(result).toMatchObject({ status: 'complete', counts: { inserted: 0, updated: 18, deleted: 2 } })
    await world.publish([stream])
    expect(world.current(stream).size).toBe(18)
    expect(tombstones(world)).toEqual(['u18', 'u19'])
  })

  it('does not make a mass loss credible', async () => {
    const world = await known(100)
    const result = await world.sync(stream, listOf(users(79)), without(world))
    expect(result).toMatchObject({ status: 'suspect', counts: { updated: 79, deleted: 0 } })
    expect(result.reason).toContain('21 of 100 known records are missing')
    expect((await world.sync(stream, listOf(users(100)))).counts).toMatchObject({ unchanged: 79, updated: 21 })
  })

  it('does not let what a broken-off scan inserted make a loss look small', async () => {
    const world = await known(20, { flushRecords: 10 })
    const fresh = Array.from({ length: 100 }, (_, n) => user(1_000 + n))
    const broken = scripted((token) => {
      if (token !== null) throw new RetryableError('500', { code: 'server_error' })
      return { records: fresh, nextToken: 'p1' }
    })
    await world.checkpoints.reset(name, { index: true, now: world.clock.now() })
    expect(await world.sync(stream, broken)).toMatchObject({ status: 'failed', counts: { inserted: 100 } })
    const result = await world.sync(stream, listOf([]))
    expect(result).toMatchObject({ status: 'suspect', reason: expect.stringContaining('20 of 20 known records') })
  })

  it('leaves deleted records alone', async () => {
    const world = await known(20)
    await world.sync(stream, listOf(users(18)))
    const before = await world.records.get(name, 'u19')
    const result = await world.sync(stream, listOf(users(18)), without(world))
    expect(result.counts).toMatchObject({ updated: 18, deleted: 0 })
    expect(await world.records.get(name, 'u19')).toEqual(before)
  })

  it('writes anew what the table has and the lake, for all we know, has not', async () => {
    const world = await known(2)
    const record = { ...(await world.records.get(name, 'u1'))!, key: 'u2' }
    const change = { stream: name, changedAt: 1, mayExist: true, signal: new AbortController().signal }
    await world.records.put({ ...change, records: [record] })
    await world.sync(stream, listOf(users(3)), without(world))
    await world.publish([stream])
    expect([...world.current(stream).keys()]).toEqual(['u0', 'u1', 'u2'])
  })

  it('holds a record that no table can take: it is neither gone nor forgotten', async () => {
    const world = await known(3)
    const list = listOf([user(0), nestedUser(1)])
    const result = await world.sync(stream, list, without(world))
    expect(result.counts).toMatchObject({ quarantined: 1, updated: 1, deleted: 1 })
    expect(world.live(stream)).toEqual(['u0', 'u1'])
    expect((await world.sync(stream, listOf(users(2)))).counts).toMatchObject({ unchanged: 1, updated: 1 })
  })

  it('of a stream of what happened asks no records table, which has none of it', async () => {
    const world = createWorld()
    const keys = () => {
      throw new Error('the records table was asked')
    }
    const deps = world.deps(listOf([]), { records: { ...world.records, keys } })
    const checkpoint = { ...newCheckpoint('hook_events'), fence: 1, scansCompleted: 1 }
    const { signal } = new AbortController()
    const known = await loadKnown(checkpoint, { deps, rules: { hasCurrent: false } }, signal)
    expect(known).toMatchObject({ indexLost: true, records: 0 })
  })

  it('keeps when a record was first seen', async () => {
    const world = await known(1)
    const first = (await world.records.get(name, 'u0'))?.firstSeenAt
    await world.sync(stream, listOf(users(1)), without(world))
    expect((await world.records.get(name, 'u0'))?.firstSeenAt).toBe(first)
  })

  it('is not what a store means that can not be reached: then the stream fails', async () => {
    const world = await known(3)
    const down = async () => {
      throw new RetryableError('S3 is out', { code: 'storage_unavailable' })
    }
    await expect(world.sync(stream, pagesOf(users(3)), { index: { ...world.index, openIndex: down } })).rejects.toThrow(
      'S3',
    )
  })
})
