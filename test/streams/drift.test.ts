import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type Json, parseJson } from '../../lib/core/json.ts'
import { freeForm, id, openEnum, resource, timeText } from '../../lib/platform/fields.ts'
import { type Drift, inspectorOf } from '../../lib/streams/drift.ts'
import { enterpriseControlRevisions } from '../../lib/streams/enterprise-control-revisions.ts'
import { readinessReports } from '../../lib/streams/readiness-reports.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import type { Stream } from '../../lib/streams/stream.ts'
import { fixtureOf, type JsonRecord } from './fixtures.ts'

/** What an inspector finds in a fixture's first record after a change to it. */
function inspected(stream: Stream, change: (record: JsonRecord) => void, at = 0): Drift {
  const record = structuredClone(fixtureOf(stream)[at]!)
  change(record)
  return inspectorOf(stream)(record)
}

/** The part of a record at a path. */
function at(record: Json, ...path: (string | number)[]): JsonRecord {
  return path.reduce<Json>((part, key) => (part as JsonRecord)[key] as Json, record) as JsonRecord
}

describe('drift', () => {
  it('finds unknown fields at any depth and leaves them in their place (JSON-06)', () => {
    const found = inspected(sessions, (session) => {
      session.region = 'eu'
      at(session, 'sessionSettings').seat = { tier: 'full' }
      at(session, 'sessionSettings', 'tokenUsage').audioTokens = 7
      at(session, 'sessionSettings', 'tags', 1).color = 'red'
    })
    expect(found).toEqual({
      extra: {
        region: 'eu',
        sessionSettings: { seat: { tier: 'full' }, tokenUsage: { audioTokens: 7 }, tags: { 1: { color: 'red' } } },
      },
      drifted: true,
    })
  })

  it('finds unknown fields in the values of a map by their key', () => {
    const found = inspected(readinessReports, (report) => {
      at(report, 'report', 'linter_configured').weight = 3
      at(report, 'apps', 'apps/web').language = 'ts'
    })
    expect(found.extra).toEqual({
      apps: { 'apps/web': { language: 'ts' } },
      report: { linter_configured: { weight: 3 } },
    })
  })

  it('keeps unknown values as they came: null, lists, empty objects, numbers beyond a double', () => {
    const unknown = parseJson('{"a":null,"b":[1,{"c":2}],"d":{},"e":12345678901234567890,"f":false}') as JsonRecord
    const found = inspected(sessions, (session) => Object.assign(session, unknown))
    expect(JSON.stringify(found.extra)).toBe('{"a":null,"b":[1,{"c":2}],"d":{},"e":12345678901234567890,"f":false}')
  })

  it('takes nothing inside a free-form object for unknown', () => {
    const found = inspected(
      enterpriseControlRevisions,
      (revision) => {
        at(revision, 'settings').userModelPolicies = { anyone: { deep: [{ down: true }] } }
        at(revision, 'settings', 'customModels', 0).extraHeaders = { 'x-new': 'redacted' }
      },
      1,
    )
    expect(found).toEqual({ extra: null, drifted: false })
  })

  it('counts a value outside a known list as drift, though it is no extra field', () => {
    expect(inspected(sessions, (session) => Object.assign(session, { status: 'hibernating' }))).toEqual({
      extra: null,
      drifted: true,
    })
    expect(
      inspected(readinessReports, (report) => {
        at(report, 'modelUsed').reasoningEffort = 'extreme'
      }),
    ).toEqual({ extra: null, drifted: true })
  })

  it('takes any value of an enumeration of which single values were seen', () => {
    const found = inspected(sessions, (session) => {
      at(session, 'sessionSettings').autonomyLevel = 'high'
    })
    expect(found.drifted).toBe(false)
  })

  it('keeps a time that can not be read beside its null column', () => {
    const found = inspected(sessions, (session) => {
      at(session, 'sessionSettings').archivedAt = 'last week'
    })
    expect(found).toEqual({ extra: { sessionSettings: { archivedAt: 'last week' } }, drifted: true })
  })

  it('knows a time by its schema, at any depth and in lists and maps', () => {
    const times = resource({ at: timeText().nullish().describe('When.'), name: z.string().nullish() })
    const schema = resource({ list: z.array(times).nullish(), map: z.record(z.string(), times).nullish() })
    const inspect = inspectorOf({ schema })
    expect(inspect({ list: [{ at: '2026-05-06', name: 'soon' }], map: { a: { at: null } } }).drifted).toBe(false)
    expect(inspect({ list: [{}, { at: 'soon' }], map: { a: { at: 'late', name: 'x' } } }).extra).toEqual({
      list: { 1: { at: 'soon' } },
      map: { a: { at: 'late' } },
    })
  })

  it('passes over null and absent parts', () => {
    const bare = { sessionId: 's', status: 'idle', messageCount: 0, createdAt: 1748411762359, updatedAt: 1748411762359 }
    const inspect = inspectorOf(sessions)
    for (const sessionSettings of [undefined, null, {}, { tags: null, tokenUsage: null, archivedAt: null }]) {
      expect(inspect({ ...bare, ...(sessionSettings === undefined ? {} : { sessionSettings }) }).drifted).toBe(false)
    }
  })

  it('keeps a number that passed for an object', () => {
    const inspect = inspectorOf({ schema: resource({ inner: resource({ a: z.string().nullish() }).nullish() }) })
    expect(JSON.stringify(inspect(parseJson('{"inner":12345678901234567890}')))).toBe(
      '{"extra":{"inner":12345678901234567890},"drifted":true}',
    )
  })

  it('takes a key named __proto__ for a key', () => {
    const found = inspectorOf({ schema: resource({ id: id() }) })(parseJson('{"id":"a","__proto__":{"admin":true}}'))
    expect(JSON.stringify(found.extra)).toBe('{"__proto__":{"admin":true}}')
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })

  it('looks through optional, nullable, default, readonly, refined and described schemas alike', () => {
    const inner = resource({ kind: openEnum('a', 'b').describe('Kind.') })
    const wraps: z.ZodType[] = [
      inner.optional(),
      inner.nullable(),
      inner.nullish().describe('Inner.'),
      inner.default({ kind: 'a' }),
      inner.readonly(),
      inner.refine(() => true),
    ]
    for (const wrapped of wraps) {
      const inspect = inspectorOf({ schema: z.looseObject({ inner: wrapped, free: freeForm().optional() }) })
      expect(inspect({ inner: { kind: 'c' } })).toEqual({ extra: null, drifted: true })
      expect(inspect({ inner: { kind: 'a', x: 1 } }).extra).toEqual({ inner: { x: 1 } })
      expect(inspect({ inner: { kind: 'b' }, free: { x: 1 } })).toEqual({ extra: null, drifted: false })
    }
  })

  it('refuses to be built where it would be blind', () => {
    const schema = z.looseObject({ either: z.union([z.string(), z.number()]) })
    expect(() => inspectorOf({ schema })).toThrow(/schema of type "union"/)
  })

  it('finds nothing twice: records do not see each other', () => {
    const inspect = inspectorOf(sessions)
    const [record] = fixtureOf(sessions)
    expect(inspect({ ...record!, a: 1 }).extra).toEqual({ a: 1 })
    expect(inspect({ ...record!, b: 1 }).extra).toEqual({ b: 1 })
    expect(inspect(record!)).toEqual({ extra: null, drifted: false })
  })
})
