import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { canonicalJson } from '../../lib/core/canonical-json.ts'
import { type Json, parseJson } from '../../lib/core/json.ts'
import { createRedactor } from '../../lib/redaction/redact.ts'
import { enterpriseControlRevisions } from '../../lib/streams/enterprise-control-revisions.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { recordTable } from '../../lib/streams/schema-tables.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import type { Stream } from '../../lib/streams/stream.ts'
import { listOf, nested, nestedUser, session, user, users } from './support/source.ts'
import { createWorld, type World } from './support/world.ts'

/** A number as it stands inside of a body. */
function exactly(text: string): Json {
  return (parseJson(`[${text}]`) as Json[])[0]!
}
function quarantined(world: World) {
  return [...world.lake.files.values()].flatMap((file) => ('records' in file ? file.records : []))
}

describe('a record with a field of an unforeseen form', () => {
  it('keeps its row, its body and its neighbours; the value stands beside the columns', async () => {
    const world = createWorld()
    const odd = session(2, { messageCount: 'many' })
    const result = await world.sync(sessions, listOf([session(1), odd, session(3)]))
    expect(result).toMatchObject({
      status: 'complete',
      counts: { inserted: 3, quarantined: 0, invalid: { messageCount: 1 } },
    })
    await world.publish([sessions])
    expect(world.current(sessions).get('s2')).toMatchObject({
      message_count: null,
      status: 'idle',
      _invalid: '[{"field":"messageCount","reason":"is a text, not a whole number","value":"many"}]',
    })
    expect(world.current(sessions).get('s1')?._invalid).toBeNull()
    expect((await world.records.get('sessions', 's2'))?.body).toBe(canonicalJson(odd))
  })

  it('is told by each scan, also when nothing changed and in the attempt after a pause', async () => {
    const world = createWorld({ settings: { flushRecords: 2 } })
    const list = [...users(20), user('odd', { email: 5 })]
    for (const unchanged of [0, 21, 21]) {
      let looks = 0
      const deadline = { remainingMs: () => (++looks > 2 ? 0 : 1e9) }
      const paused = await world.sync(organizationUsers, listOf(list, 5), {
        runId: world.newRun().runId,
        deadline,
      })
      expect(paused.status).toBe('paused')
      const { counts } = await world.sync(organizationUsers, listOf(list, 5), { runId: paused.runId })
      expect(counts).toMatchObject({ unchanged, invalid: { email: 1 } })
    }
    await world.sync(organizationUsers, listOf([...users(20), user('odd')]))
    expect((await world.sync(organizationUsers, listOf([...users(20), user('odd')]))).counts?.invalid).toEqual({})
  })

  it('is written anew by itself once its form is declared', async () => {
    const world = createWorld()
    const list = [user(1), user(2, { email: ['a@example.com'] })]
    await world.sync(organizationUsers, listOf(list))
    const schema = organizationUsers.schema.extend({ email: z.array(z.string()).describe('Addresses.') })
    const [table] = organizationUsers.tables
    const learned = { ...organizationUsers, schema, tables: [recordTable(schema, { ...table, key: ['id'] })] } as Stream
    expect((await world.sync(learned, listOf([...list, list[1]!]))).counts).toMatchObject({
      updated: 1,
      unchanged: 1,
      duplicate: 1,
      // The other one is what is odd to this schema, and did not change.
      invalid: {},
    })
    await world.publish([learned])
    expect(world.current(learned).get('u2')).toMatchObject({ email: '["a@example.com"]', _invalid: null })
    expect((await world.sync(learned, listOf(list))).counts).toMatchObject({ unchanged: 2 })
  })

  it('is a version like any other: the later change wins', async () => {
    const world = createWorld()
    const later = session(1, { title: 5, updatedAt: Date.UTC(2026, 0, 3) })
    const { counts } = await world.sync(sessions, listOf([later, session(1)]))
    expect(counts).toMatchObject({ received: 2, inserted: 1, duplicate: 1, invalid: { title: 1 } })
    expect((await world.records.get('sessions', 's1'))?.body).toBe(canonicalJson(later))
  })

  it.each([
    ['messageCount', ''],
    ['messageCount', null],
    ['messageCount', false],
    ['updatedAt', null],
    ['status', 0],
    ['createdAt', 1748411762],
    ['createdAt', '1748411762359'],
    ['createdAt', exactly('1e400')],
  ])('is not made to fit: %s as %j (JSON-07, JSON-08, TIME-01)', async (field, value) => {
    const world = createWorld()
    const result = await world.sync(
      sessions,
      listOf([...Array.from({ length: 9 }, (_, n) => session(n)), session(9, { [field]: value })]),
    )
    expect(result).toMatchObject({
      status: 'complete',
      counts: { inserted: 10, quarantined: 0, invalid: { [field]: 1 } },
    })
  })

  it('costs the audit trail nothing: each revision whose number can be read is observed', async () => {
    const observed: Json[] = []
    const world = createWorld({
      observers: {
        [enterpriseControlRevisions.name]: {
          flushed: async (records) => void observed.push(...records.map(({ record }) => record.revision ?? null)),
          completed: async () => ({ notices: [], acknowledge: async () => {} }),
        },
      },
    })
    const odd = { updatedAt: 'in spring', user: 'ana', settings: { sandbox: 'on' } }
    const list = [
      { revision: 1, settings: {} },
      { revision: 2, ...odd },
      { revision: '3', settings: [] },
      { ...odd, revision: 'x' },
    ]
    const { counts } = await world.sync(enterpriseControlRevisions, listOf(list))
    expect(observed).toEqual([1, 2, '3'])
    expect(counts).toMatchObject({
      quarantined: 1,
      invalid: { updatedAt: 1, user: 1, 'settings.sandbox': 1, revision: 1 },
    })
    expect(await world.records.get(enterpriseControlRevisions.name, '3')).not.toBeNull()
  })
})

describe('a record that no table can take', () => {
  it('is kept with its reason and its raw form, and its neighbours go on', async () => {
    const world = createWorld()
    const broken = { email: 'x@example.com' }
    const result = await world.sync(organizationUsers, listOf([user(1), broken, user(3)]))
    expect(result).toMatchObject({ status: 'complete', counts: { inserted: 2, quarantined: 1 } })
    expect(quarantined(world)).toEqual([
      { key: null, reasons: ['id: the primary key is missing'], raw: '{"email":"x@example.com"}' },
    ])
  })

  it('counts beside a copy of it that can be used in the same scan, in either order', async () => {
    for (const copies of [
      [user(1), nestedUser(1), user(1)],
      [nestedUser(1), user(1), user(1)],
    ]) {
      const world = createWorld()
      await world.sync(organizationUsers, listOf([user(1)]))
      const { counts } = await world.sync(organizationUsers, listOf(copies))
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
    expect(quarantined(world)).toMatchObject([
      { key: null, reasons: [expect.stringMatching(/^the record is .+, not an object$/)] },
    ])
  })

  it.each([
    ['an empty id', { id: '' }],
    ['an id of 2,000 bytes', { id: 'é'.repeat(1_000) }],
    ['an id that a double rounds', parseJson('{"id":9007199254740993}')],
    ['an id of another type', { id: 5 }],
    ['no id', {}],
  ])('has %s', async (_what, record) => {
    const world = createWorld()
    await world.sync(organizationUsers, listOf([record as Json]))
    expect(quarantined(world)).toMatchObject([
      { key: null, reasons: [expect.stringMatching(/^id: the primary key is /)] },
    ])
  })
})

describe('a record that is nested too deep (JSON-09)', () => {
  it('is kept with its text, and its neighbours are stored', async () => {
    const world = createWorld()
    const deep = nestedUser(2, 5_000)
    const result = await world.sync(organizationUsers, listOf([user(1), deep, user(3)]))
    expect(result).toMatchObject({ status: 'complete', counts: { inserted: 2, quarantined: 1 } })
    const [{ key, reasons, raw } = { key: '', reasons: [], raw: '' }] = quarantined(world)
    expect([key, reasons]).toEqual(['u2', ['nested deeper than 200 levels']])
    expect(raw).toBe(`{"id":"u2","email":"u2@example.com","metadata":${'{"in":'.repeat(4_999)}{}${'}'.repeat(5_000)}`)
  })

  it('may be of 200 levels and no more', async () => {
    const world = createWorld()
    const { counts } = await world.sync(organizationUsers, listOf([nestedUser(1, 199), nestedUser(2, 200)]))
    expect(counts).toMatchObject({ inserted: 1, quarantined: 1 })
    expect(world.live(organizationUsers)).toEqual(['u1'])
  })

  it('holds no secret in its text, at whatever depth', async () => {
    const redactor = createRedactor('key')
    const world = createWorld({ redact: (record, { secretPaths }) => redactor.redact(record, { secretPaths }) })
    const within = (levels: number, core: Json): Json => {
      let value = core
      for (let n = 0; n < levels; n++) value = n % 2 ? [value] : { in: value }
      return value
    }
    // Names that tell stand above, at, and below where the record is parted.
    const deep = [150, 198, 199, 200, 400, 2_500].map((levels) => within(levels, { apiKey: within(230, 'sk-live-77') }))
    const [shown] = [within(3_000, { plan: 'team' })]
    await world.sync(organizationUsers, listOf([user(1), user(2, { metadata: [...deep, shown!] })]))
    const [{ raw } = { raw: '' }] = quarantined(world)
    expect(raw).not.toContain('sk-live-77')
    expect(raw).toContain('redacted:hmac-sha256:')
    expect(raw).toContain('{"plan":"team"}')
    expect(() => parseJson(raw)).not.toThrow()
  })

  it('is nested in its settings, beside a revision with a number that a double can not hold', async () => {
    const world = createWorld()
    const body = `[{"revision":1,"settings":{"x":0.1000000000000000055511151231257827}},{"revision":2,"settings":${JSON.stringify(nested(3_000))}}]`
    const { counts } = await world.sync(enterpriseControlRevisions, listOf(parseJson(body) as Json[]))
    expect(counts).toMatchObject({ inserted: 1, quarantined: 1 })
  })
})
