import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../lib/core/canonical-json.ts'
import { contentHash } from '../../lib/core/hash.ts'
import { type Json, parseJson } from '../../lib/core/json.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import type { Stream } from '../../lib/streams/stream.ts'
import { listOf, pageOf, pagesOf, session, user, users } from './support/source.ts'
import { createWorld, type World } from './support/world.ts'

function counting<T extends object>(port: T): T & { calls: string[] } {
  const calls: string[] = []
  return new Proxy(port, {
    get: (target, name) => {
      if (name === 'calls') return calls
      const member = Reflect.get(target, name) as unknown
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        calls.push(String(name))
        return (member as (...args: unknown[]) => unknown).apply(target, args)
      }
    },
  }) as T & { calls: string[] }
}
/** A number as it stands inside of a body. */
function exactly(text: string): Json {
  return (parseJson(`[${text}]`) as Json[])[0]!
}
function rowsOf(world: World, stream: Stream) {
  return world.lake.publishedRows(stream.tables[0].name)
}
describe('a list that has not changed', () => {
  it('causes no call to the records table and no file in the lake', async () => {
    const world = createWorld({ settings: { flushRecords: 10 } })
    await world.sync(organizationUsers, listOf(users(100), 10))
    const records = counting(world.records)
    const lake = counting(world.lake)
    const index = counting(world.index)
    const result = await world.sync(organizationUsers, listOf(users(100), 10), { records, lake, index })
    expect(result.counts).toMatchObject({ received: 100, unchanged: 100, inserted: 0, updated: 0 })
    expect(records.calls).toEqual([])
    expect(lake.calls).toEqual([])
    expect(index.calls).not.toContain('writeIndex')
    await world.publish([organizationUsers])
    expect(rowsOf(world, organizationUsers)).toHaveLength(100)
  })

  it('is unchanged when only the order of keys differs', async () => {
    const world = createWorld()
    await world.sync(organizationUsers, listOf([{ id: 'u1', email: 'a', metadata: { x: 1, y: 2 } }]))
    const result = await world.sync(organizationUsers, listOf([{ metadata: { y: 2, x: 1 }, email: 'a', id: 'u1' }]))
    expect(result.counts).toMatchObject({ unchanged: 1 })
  })
})

describe('a record that comes twice in a scan (PAG-10)', () => {
  const older = session(7, { title: 'member', updatedAt: Date.UTC(2026, 2, 1) })
  const newer = session(7, { title: 'admin', updatedAt: Date.UTC(2026, 2, 2) })

  it.each([
    ['newer copy last', [older, newer], 5_000],
    ['newer copy first', [newer, older], 5_000],
    ['newer copy last, in another flush', [older, newer], 1],
    ['newer copy first, in another flush', [newer, older], 1],
  ])('stands as the newer copy says: %s', async (_order, copies, flushRecords) => {
    const world = createWorld({ settings: { flushRecords } })
    const result = await world.sync(sessions, pagesOf(...copies.map((copy) => [copy])))
    expect(result.counts).toMatchObject({ received: 2, inserted: 1, updated: 0, duplicate: 1 })
    await world.publish([sessions])
    expect(world.current(sessions).get('s7')?.title).toBe('admin')
    expect((await world.records.get('sessions', 's7'))?.body).toBe(canonicalJson(newer))
    if (flushRecords > 1 || copies[0] === newer) expect(rowsOf(world, sessions)).toHaveLength(1)
  })

  it('counts as one change when it was known', async () => {
    const world = createWorld()
    await world.sync(sessions, listOf([older]))
    const result = await world.sync(sessions, listOf([older, newer, older]))
    expect(result.counts).toMatchObject({ received: 3, updated: 1, unchanged: 0, duplicate: 2 })
    await world.publish([sessions])
    expect(rowsOf(world, sessions)).toHaveLength(2)
    expect(world.current(sessions).get('s7')?.title).toBe('admin')
  })

  it('stands as it came last when nothing says which copy is newer', async () => {
    const world = createWorld()
    await world.sync(organizationUsers, listOf([user(1, { firstName: 'A' }), user(1, { firstName: 'B' })]))
    await world.publish([organizationUsers])
    expect(world.current(organizationUsers).get('u1')?.first_name).toBe('B')
  })
})

describe('what the schema leaves open', () => {
  it('keeps null in an optional field: null in its column and in the stored record (JSON-07)', async () => {
    const world = createWorld()
    const record = session(1, { completedAt: null, title: null })
    await world.sync(sessions, listOf([record]))
    await world.publish([sessions])
    expect(world.current(sessions).get('s1')).toMatchObject({ completed_at: null, title: null })
    expect((await world.records.get('sessions', 's1'))?.body).toBe(canonicalJson(record))
  })

  it('keeps unknown values and fields, counts them as drift, and sees them change (JSON-06)', async () => {
    const world = createWorld()
    const page = (tier: string) =>
      Array.from({ length: 100 }, (_, n) =>
        session(n, { status: n === 0 ? 'billing_viewer' : 'idle', ...(n < 2 ? { seat: { tier } } : {}) }),
      )
    expect((await world.sync(sessions, listOf(page('gold')))).counts).toMatchObject({ inserted: 100, drifted: 2 })
    expect((await world.sync(sessions, listOf(page('silver')))).counts).toMatchObject({
      updated: 2,
      unchanged: 98,
      deleted: 0,
    })
    await world.publish([sessions])
    expect(world.current(sessions).get('s0')).toMatchObject({
      status: 'billing_viewer',
      _extra: '{"seat":{"tier":"silver"}}',
    })
  })

  it('keeps the digits of a number that no double holds (JSON-01)', async () => {
    const world = createWorld()
    const record = { id: 'u1', metadata: { account: exactly('9007199254740993') } }
    const source = { fetchPage: async () => pageOf({ records: [record], nextToken: null }) }
    await world.sync(organizationUsers, source)
    await world.publish([organizationUsers])
    expect(world.current(organizationUsers).get('u1')?.metadata).toBe('{"account":9007199254740993}')
    expect((await world.records.get('organization_users', 'u1'))?.body).toContain(':9007199254740993}')
  })

  it('repairs half an emoji, says so, and stores what it hashed (JSON-04)', async () => {
    const world = createWorld()
    const many = [
      ...users(5),
      user('cut', { firstName: 'cut\ud83d', lastName: 'whole 😀' }),
      user('path', { firstName: 'C:\\udir' }),
    ]
    const result = await world.sync(organizationUsers, listOf(many))
    expect(result.counts).toMatchObject({ inserted: 7, repaired: 1 })
    await world.publish([organizationUsers])
    const row = world.current(organizationUsers).get('ucut')
    const stored = await world.records.get('organization_users', 'ucut')
    expect(row).toMatchObject({ first_name: 'cut\ufffd', last_name: 'whole 😀' })
    expect(contentHash(parseJson(stored?.body as string))).toBe(stored?.hash)
    expect(row?._hash).toBe(stored?.hash)
    expect((await world.sync(organizationUsers, listOf(many))).counts).toMatchObject({ unchanged: 7 })
  })
})
