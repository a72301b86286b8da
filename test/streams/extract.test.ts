import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type Json, parseJson } from '../../lib/core/json.ts'
import { freeForm, id, integer, openEnum, resource, timeText } from '../../lib/platform/fields.ts'
import { computers } from '../../lib/streams/computers.ts'
import { enterpriseControlRevisions } from '../../lib/streams/enterprise-control-revisions.ts'
import { extractorOf, requiredFields } from '../../lib/streams/extract.ts'
import { readinessReports } from '../../lib/streams/readiness-reports.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { at, besides, extracted, extractorFor, inspected, mainCells, nothing, parsed } from './extracting.ts'
import { fixtureOf, type JsonRecord } from './fixtures.ts'

describe('what a schema does not know', () => {
  it('is found at any depth and left in its place (JSON-06)', () => {
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
      invalid: null,
      drifted: true,
    })
  })

  it("stands in a nested row as far as it is of the row's own element", () => {
    const { rows } = extracted(sessions, (session) => {
      session.region = 'eu'
      at(session, 'sessionSettings', 'tags', 1).color = 'red'
    })
    expect(rows[1]!.map(({ extra }) => parsed(extra))).toEqual([null, { color: 'red' }])
  })

  it('is found in the values of a map by their key', () => {
    const found = inspected(readinessReports, (report) => {
      at(report, 'report', 'linter_configured').weight = 3
      at(report, 'apps', 'apps/web').language = 'ts'
    })
    expect(found.extra).toEqual({
      apps: { 'apps/web': { language: 'ts' } },
      report: { linter_configured: { weight: 3 } },
    })
  })

  it('is kept as it came: null, lists, empty objects, numbers beyond a double, a key named __proto__', () => {
    const text = '{"a":null,"b":[1,{"c":2}],"d":{},"e":12345678901234567890,"f":false,"__proto__":{"admin":true}}'
    const { rows } = extractorFor(resource(() => ({ id: id().describe('Id.') })))(
      parseJson(`{"id":"x",${text.slice(1)}`),
    )
    expect(rows[0]![0]!.extra).toBe(text)
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })

  it('is never inside of a free-form object', () => {
    const change = (revision: JsonRecord) => {
      at(revision, 'settings').userModelPolicies = { anyone: { deep: [{ down: true }] } }
      at(revision, 'settings', 'customModels', 0).extraHeaders = { 'x-new': 'redacted' }
    }
    expect(inspected(enterpriseControlRevisions, change, 1)).toEqual(nothing)
  })

  it('is drift, though no extra field, where a value is outside of a known list or within a JSON column', () => {
    const drift = { ...nothing, drifted: true }
    expect(inspected(sessions, (session) => Object.assign(session, { status: 'hibernating' }))).toEqual(drift)
    const effort = (report: JsonRecord) => Object.assign(at(report, 'modelUsed'), { reasoningEffort: 'extreme' })
    expect(inspected(readinessReports, effort)).toEqual(drift)
    const model = (revision: JsonRecord) =>
      Object.assign(at(revision, 'settings', 'customModels', 0), { index: 'first' })
    expect(inspected(enterpriseControlRevisions, model, 1)).toEqual(drift)
    const level = (session: JsonRecord) => Object.assign(at(session, 'sessionSettings'), { autonomyLevel: 'high' })
    expect(inspected(sessions, level)).toEqual(nothing)
  })

  it('is found through every layer around a schema, and refused where it can not be', () => {
    const inner = resource(() => ({ kind: openEnum('a', 'b').describe('Kind.') }))
    const wraps = [inner.optional(), inner.nullable(), inner.nullish(), inner.readonly(), inner.refine(() => true)]
    for (const wrapped of wraps) {
      const extract = extractorFor(z.looseObject({ id: id().describe('Id.'), inner: wrapped }))
      expect(besides(extract({ id: 'x', inner: { kind: 'c' } })).drifted).toBe(true)
      expect(besides(extract({ id: 'x', inner: { kind: 'a', x: 1 } })).extra).toEqual({ inner: { x: 1 } })
      expect(besides(extract({ id: 'x', inner: { kind: 'b' } }))).toEqual(nothing)
    }
    const either = z.looseObject({ either: z.union([z.string(), z.number()]).describe('Either.') })
    expect(() => extractorFor(either)({ either: 'text' }, 'key')).toThrow(/schema of type "union"/)
  })

  it('is never found twice: records do not see each other', () => {
    const extract = extractorOf(sessions)
    const [record] = fixtureOf(sessions)
    expect(besides(extract({ ...record!, a: 1 })).extra).toEqual({ a: 1 })
    expect(besides(extract({ ...record!, b: 1, messageCount: 'x' })).extra).toEqual({ b: 1 })
    expect(besides(extract(record!))).toEqual(nothing)
  })
})

describe('a value of an unforeseen form', () => {
  it('costs its column, and is told with its reason', () => {
    const result = extracted(sessions, (session) => Object.assign(session, { messageCount: 'a dozen' }))
    expect(besides(result)).toEqual({
      ...nothing,
      invalid: [{ field: 'messageCount', reason: 'is a text, not a whole number', value: 'a dozen' }],
    })
    expect(mainCells(sessions, result)).toMatchObject({
      session_id: 'ses_01',
      message_count: null,
      model: 'atlas-large',
    })
    expect(result.invalid).toEqual(['messageCount'])
  })

  it('costs all columns below it where it is no object, told once', () => {
    const result = extracted(sessions, (session) => Object.assign(session, { sessionSettings: 'none' }))
    expect(besides(result).invalid).toEqual([
      { field: 'sessionSettings', reason: 'is a text, not an object', value: 'none' },
    ])
    expect(mainCells(sessions, result)).toMatchObject({ model: null, tags: null, title: expect.any(String) })
    expect(result.rows[1]).toEqual([])
  })

  it('is a required one that is missing or null; an optional one may be either', () => {
    const change = (session: JsonRecord) => {
      delete session.messageCount
      delete session.title
      Object.assign(session, { createdAt: null, completedAt: null })
    }
    expect(inspected(sessions, change).invalid).toEqual([
      { field: 'messageCount', reason: 'is missing', value: null },
      { field: 'createdAt', reason: 'is null', value: null },
    ])
  })

  it('in an element is told in the row of the element, and in the main row with its place', () => {
    const result = extracted(computers, (computer) => Object.assign(at(computer, 'provisioningSteps', 0), { name: 7 }))
    const told = { reason: 'is a number, not a text', value: 7 }
    expect(besides(result).invalid).toEqual([{ field: 'provisioningSteps[0].name', ...told }])
    expect(parsed(result.rows[1]![0]!.invalid)).toEqual([{ field: 'name', ...told }])
    expect(result.rows[1]![0]!.cells).toContain('install')
    expect(result.invalid).toEqual(['provisioningSteps[].name'])
  })

  it('costs a row where it is the element, and the list where it is no list', () => {
    const steps = (computer: JsonRecord) => computer.provisioningSteps as Json[]
    const element = extracted(computers, (computer) => steps(computer).splice(0, 1, 'boot'))
    expect(besides(element).invalid).toEqual([
      { field: 'provisioningSteps[0]', reason: 'is a text, not an object', value: 'boot' },
    ])
    expect(element.rows[1]!.map(({ cells }) => cells[1])).not.toContain(0)
    const list = extracted(computers, (computer) => Object.assign(computer, { provisioningSteps: 'none' }))
    expect(besides(list).invalid).toEqual([
      { field: 'provisioningSteps', reason: 'is a text, not a list', value: 'none' },
    ])
    expect(list.rows[1]).toEqual([])
  })

  it('is told once of a list that is a column and a table', () => {
    const tags = (session: JsonRecord) => Object.assign(at(session, 'sessionSettings'), { tags: 5 })
    expect(inspected(sessions, tags).invalid).toEqual([
      { field: 'sessionSettings.tags', reason: 'is a number, not a list', value: 5 },
    ])
  })

  it('is cut when it is long, and so is the list of many', () => {
    const long = inspected(sessions, (session) => Object.assign(session, { title: ['x'.repeat(5_000)] }))
    expect(long.invalid[0].value).toMatch(/^\["x{1998}\.\.\. \(cut: 5004 characters of JSON\)$/)
    const many = extracted(computers, (computer) => Object.assign(computer, { provisioningSteps: Array(500).fill(1) }))
    const told = besides(many).invalid
    expect(told).toHaveLength(101)
    expect(told.at(-1).reason).toBe('400 more are not told here')
    expect(many.invalid).toEqual(['provisioningSteps[]'])
  })

  it('leaves the key of a record in its column, which may be a number written as text', () => {
    const [, revision] = fixtureOf(enterpriseControlRevisions)
    const result = extractorOf(enterpriseControlRevisions)({ ...revision!, revision: '2' }, '2')
    expect(mainCells(enterpriseControlRevisions, result).revision).toBe(2)
    expect(result.invalid).toEqual(['revision'])
  })

  it('knows which fields must hold a value', () => {
    expect([...requiredFields(readinessReports)]).toEqual(
      expect.arrayContaining(['createdAt', 'report', 'report.*', 'report.*.numerator', 'apps.*.description']),
    )
    expect(requiredFields(readinessReports)).not.toContain('modelUsed.id')
    expect(requiredFields(sessions)).not.toContain('completedAt')
  })
})

describe('a JSON column', () => {
  it('holds what its elements are, whatever their form', () => {
    const schema = resource(() => ({
      id: id().describe('Id.'),
      list: z
        .array(resource(() => ({ at: timeText().nullish(), size: integer().nullish() })))
        .nullish()
        .describe('List.'),
      free: freeForm().nullish().describe('Free.'),
    }))
    const extract = extractorFor(schema)
    const odd = extract({ id: 'x', list: [{ at: 'soon' }, 5, null], free: { a: [] } })
    expect(odd.rows[0]![0]!.cells).toEqual(['x', '[{"at":"soon"},5,null]', '{"a":[]}'])
    expect(besides(odd)).toEqual({ ...nothing, drifted: true })
    expect(besides(extract({ id: 'x', list: [{ at: '2026-05-06', size: 1 }] }))).toEqual(nothing)
  })
})
