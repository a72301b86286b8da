import { describe, expect, it } from 'vitest'
import { type Json, parseJson } from '../../lib/core/json.ts'
import { computers } from '../../lib/streams/computers.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { listOf, session, user } from './support/source.ts'
import { createWorld, type World } from './support/world.ts'

/** A number as it stands inside of a body. */
function exactly(text: string): Json {
  return (parseJson(`[${text}]`) as Json[])[0]!
}
function quarantined(world: World) {
  return [...world.lake.files.values()].flatMap((file) => ('records' in file ? file.records : []))
}

describe('a record that breaks its schema', () => {
  it('is kept with its reasons and its raw form, and its neighbours go on', async () => {
    const world = createWorld()
    const broken = session(2, { messageCount: 'many' })
    const result = await world.sync(sessions, listOf([session(1), broken, session(3)]))
    expect(result).toMatchObject({ status: 'complete', counts: { inserted: 2, quarantined: 1 } })
    expect(quarantined(world)).toEqual([
      { key: 's2', reasons: [expect.stringMatching(/^messageCount: /)], raw: broken },
    ])
    expect(quarantined(world)[0]?.reasons.join()).not.toContain('many')
  })

  it('counts beside a valid copy of it in the same scan, in either order', async () => {
    const broken = session(1, { messageCount: 'many' })
    for (const copies of [
      [session(1), broken, session(1)],
      [broken, session(1), session(1)],
    ]) {
      const world = createWorld()
      await world.sync(sessions, listOf([session(1)]))
      const { counts } = await world.sync(sessions, listOf(copies))
      expect(counts).toMatchObject({ received: 3, unchanged: 1, duplicate: 1, quarantined: 1 })
    }
  })

  it.each([
    ['a text', 'oops'],
    ['a number', 5],
    ['null', null],
    ['a list', [1]],
    ['a number without a double', exactly('9007199254740993')],
  ])('may be %s instead of an object', async (_what, record) => {
    const world = createWorld()
    const result = await world.sync(organizationUsers, listOf([record, user(1)]))
    expect(result).toMatchObject({ status: 'complete', counts: { inserted: 1, quarantined: 1 } })
  })

  it.each([
    ['an empty id', { id: '' }],
    ['an id of 2,000 bytes', { id: 'é'.repeat(1_000) }],
    ['an id that a double rounds', parseJson('{"id":9007199254740993}')],
    ['no id', {}],
  ])('has %s', async (_what, record) => {
    const world = createWorld()
    await world.sync(organizationUsers, listOf([record as Json]))
    expect(quarantined(world)).toMatchObject([{ key: null, reasons: [expect.any(String)] }])
  })

  it.each([
    ['in seconds', 1748411762],
    ['far in the future', 57_000 * 365 * 86_400_000],
    ['as a text', '1748411762359'],
    ['beyond a double', exactly('1e400')],
  ])('has a time %s (TIME-01, JSON-08)', async (_what, createdAt) => {
    const world = createWorld()
    const result = await world.sync(computers, listOf([{ id: 'c1', createdAt }]))
    expect(result.counts).toMatchObject({ quarantined: 1, inserted: 0 })
  })

  it.each([
    ['messageCount', ''],
    ['messageCount', null],
    ['messageCount', false],
    ['updatedAt', null],
    ['status', 0],
  ])('is not made to fit: %s as %j (JSON-07)', async (field, value) => {
    const world = createWorld()
    expect((await world.sync(sessions, listOf([session(1, { [field]: value })]))).counts).toMatchObject({
      quarantined: 1,
    })
  })
})
