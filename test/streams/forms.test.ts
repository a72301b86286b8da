import { describe, expect, it } from 'vitest'
import { parseJson } from '../../lib/core/json.ts'
import { computers } from '../../lib/streams/computers.ts'
import { enterpriseControlRevisions } from '../../lib/streams/enterprise-control-revisions.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { readinessReports } from '../../lib/streams/readiness-reports.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import type { Stream } from '../../lib/streams/stream.ts'
import { at, besides, extracted, inspected, mainCells, nothing } from './extracting.ts'
import type { JsonRecord } from './fixtures.ts'

describe('an empty map that came as an empty list (JSON-10)', () => {
  it.each<[string, { stream: Stream; index: number }, (record: JsonRecord) => unknown]>([
    ["a user's metadata", { stream: organizationUsers, index: 0 }, (user) => Object.assign(user, { metadata: [] })],
    [
      'the applications of a report',
      { stream: readinessReports, index: 0 },
      (report) => Object.assign(report, { apps: [] }),
    ],
    [
      'metadata of a tag',
      { stream: sessions, index: 0 },
      (session) => Object.assign(at(session, 'sessionSettings', 'tags', 0), { metadata: [] }),
    ],
    [
      'plugins',
      { stream: enterpriseControlRevisions, index: 1 },
      (revision) => Object.assign(at(revision, 'settings'), { enabledPlugins: [] }),
    ],
    [
      'headers of a model',
      { stream: enterpriseControlRevisions, index: 1 },
      (revision) => Object.assign(at(revision, 'settings', 'customModels', 0), { extraHeaders: [] }),
    ],
  ])('is empty: %s', (_what, { stream, index }, change) => {
    expect(inspected(stream, (record) => void change(record), index)).toEqual(nothing)
  })

  it('is an empty object in its column, and no rows of its table; an empty list may come as an object', () => {
    const user = extracted(organizationUsers, (record) => Object.assign(record, { metadata: [] }))
    expect(mainCells(organizationUsers, user).metadata).toBe('{}')
    expect(extracted(readinessReports, (record) => Object.assign(record, { apps: [] })).rows[2]).toEqual([])
    const computer = extracted(computers, (record) => Object.assign(record, { provisioningSteps: {} }))
    expect([computer.rows[1], besides(computer)]).toEqual([[], nothing])
  })
})

describe('a number', () => {
  const credits = (text: string) =>
    extracted(sessions, (session) =>
      Object.assign(at(session, 'sessionSettings', 'tokenUsage'), { platformCredits: parseJson(text) }),
    )

  it.each([
    ['0.1000000000000000055511151231257827', 0.1],
    ['1234567.8901234567891', 1234567.8901234567],
    ['9007199254740993', 9007199254740992],
    ['12.34000000000000000000', 12.34],
    ['1e21', 1e21],
    ['1e-400', 0],
    ['-0.0', 0],
  ])('%s is the nearest double in a column of doubles (JSON-11)', (text, cell) => {
    const result = credits(text)
    expect(mainCells(sessions, result).token_usage_platform_credits).toBe(cell)
    expect(besides(result)).toEqual(nothing)
  })

  it('beyond a double is none, and keeps its digits beside (JSON-08, JSON-11)', () => {
    const result = credits('1E400')
    expect(mainCells(sessions, result).token_usage_platform_credits).toBeNull()
    expect(result.rows[0]![0]!.invalid).toBe(
      '[{"field":"sessionSettings.tokenUsage.platformCredits","reason":"is a number beyond the range of a double","value":1E400}]',
    )
  })

  it.each(['1.5', '9007199254740993', '"12"', 'true'])('%s is no whole number', (text) => {
    expect(
      inspected(sessions, (session) => Object.assign(session, { messageCount: parseJson(text) })).invalid,
    ).toHaveLength(1)
  })

  it('below what is possible is none', () => {
    const change = (report: JsonRecord) => Object.assign(at(report, 'report', 'linter_configured'), { denominator: 0 })
    expect(inspected(readinessReports, change).invalid).toMatchObject([
      { field: 'report.linter_configured.denominator', reason: 'is below 1' },
    ])
  })
})

describe('a time', () => {
  const created = Date.UTC(2026, 4, 6, 9, 59, 59, 512)

  it.each([
    ['with a fraction of a millisecond', `${created}.512`],
    ['with a long fraction', `${created}.51234567890123456789`],
    ['with an exponent', '1.778061599512e12'],
  ])('%s is cut to the millisecond (TIME-06)', (_what, text) => {
    const result = extracted(sessions, (session) => Object.assign(session, { updatedAt: parseJson(text) }))
    expect(mainCells(sessions, result).updated_at).toBe(created)
    expect(besides(result)).toEqual(nothing)
  })

  it.each([0, -62_135_596_800_000, ''])(
    'that is not set, written as %j, is null and kept beside (TIME-05)',
    (value) => {
      const result = extracted(sessions, (session) => Object.assign(session, { completedAt: value }))
      expect(mainCells(sessions, result).completed_at).toBeNull()
      expect(besides(result).invalid).toEqual([
        { field: 'completedAt', reason: 'stands for a time that is not set', value },
      ])
    },
  )

  it.each(['0001-01-01T00:00:00Z', ''])('as text that is not set, %j, is null and kept beside (TIME-05)', (value) => {
    const result = extracted(organizationUsers, (user) => Object.assign(user, { lastSignInAt: value }))
    expect(mainCells(organizationUsers, result).last_sign_in_at).toBeNull()
    expect(besides(result).invalid).toEqual([
      { field: 'lastSignInAt', reason: 'stands for a time that is not set', value },
    ])
  })

  it('in seconds, as text where it is a number, or unreadable is not made to fit (TIME-01, JSON-07)', () => {
    for (const value of [1_748_411_762, '1748411762359', '2026-05-06T10:00:00Z', true]) {
      expect(inspected(sessions, (session) => Object.assign(session, { createdAt: value })).invalid).toMatchObject([
        { value },
      ])
    }
    for (const value of ['last week', '2026-02-30', 1_748_411_762_359]) {
      const change = (session: JsonRecord) => Object.assign(at(session, 'sessionSettings'), { archivedAt: value })
      expect(inspected(sessions, change).invalid).toMatchObject([{ field: 'sessionSettings.archivedAt', value }])
    }
  })
})
