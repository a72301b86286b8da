import { openLakeDatabase } from '../../../lib/cli/lake-database.ts'
import { ask, type Value } from '../../../lib/cli/query-rows.ts'
import type { Json } from '../../../lib/core/json.ts'
import { currentFiles } from '../../../lib/publish/iceberg/current-files.ts'
import { pictures } from '../../../lib/report/pictures/pictures.ts'
import type { LakeRows } from '../../../lib/report/pictures/ports.ts'
import { createLakeRows, type LakeRowsDeps } from '../../../lib/stores/lake-rows.ts'
import { computers } from '../../../lib/streams/computers.ts'
import { creditLimitOutcomes } from '../../../lib/streams/credit-limit-outcomes.ts'
import { hookEvents } from '../../../lib/streams/hook-events.ts'
import { organizationUsers } from '../../../lib/streams/organization-users.ts'
import { readinessReports } from '../../../lib/streams/readiness-reports.ts'
import { sessions } from '../../../lib/streams/sessions.ts'
import { createTablesWorld } from '../../support/tables/tables-world.ts'

/** When the pictures of these tests are made. */
export const now = Date.UTC(2026, 10, 28, 2, 30)

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Names as somebody may write who means no good. */
export const oddNames = [
  '<script>alert(1)</script>',
  'x'.repeat(10_000),
  '\u202eשלום\u202c',
  'O\'Neil "& Sons"',
  '',
  'nul \0',
]

/** A number that looks drawn by lot, and is the same in each run. */
function dice(at: number, sides: number): number {
  return ((at * 2_654_435_761 + 40_503) >>> 7) % sides
}

function named(at: number, plain: string, kinds: number): string {
  const n = dice(at, kinds)
  return oddNames[n] ?? `${plain}-${n}`
}

/** Sessions of more than a year, some on the edges of periods, some without what others have. */
export function sessionRecords(night: number): Json[] {
  return Array.from({ length: 160 }, (_, at): Json => {
    const age = at < 20 ? at * dayMs : dice(at, 400 * 24) * hourMs
    // The first 20 begin at midnight: on the very edge of a day.
    const createdAt = (at < 20 ? Date.UTC(2026, 10, 28) : now) - age + (at === 21 ? 40 * dayMs : 0)
    const usage = {
      platformCredits: dice(at + night, 997) / 8,
      inputTokens: at * 1000,
      outputTokens: at * 10,
      cacheReadTokens: at % 3 ? at : null,
    }
    return {
      sessionId: `s${at}`,
      status: 'idle',
      messageCount: at + night,
      createdAt: at === 30 ? null : createdAt,
      updatedAt: createdAt,
      computerId: at % 7 === 0 ? null : `c${dice(at, 14)}`,
      sessionSettings: {
        model: at % 11 === 0 ? null : named(at, 'model', 16),
        tags: at % 5 === 0 ? null : [named(at, 'tag', 30), named(at + 1, 'tag', 30), 'all'].map((name) => ({ name })),
        tokenUsage: at % 13 === 0 ? null : usage,
      },
    }
  }).filter((_, at) => at % 17 !== night)
}

/** Reports of three repositories, of which some checks move from week to week. */
function reportRecords(): Json[] {
  return Array.from({ length: 40 }, (_, at): Json => {
    const createdAt = now - (at < 30 ? at * dayMs : dice(at, 300) * dayMs)
    const criterion = (n: number): [string, Json] => {
      const denominator = 1 + dice(at + n, 4)
      return [
        n === 3 ? (oddNames[0] as string) : `criterion-${n}`,
        { numerator: dice(at * n, denominator + 1), denominator, rationale: null },
      ]
    }
    return {
      reportId: `r${at}`,
      createdAt,
      repoUrl:
        [`https://git.example.com/team/repo-${at % 3}`, 'git@host:other', ''][at % 5] ??
        'https://git.example.com/team/repo-9',
      apps: {},
      report: Object.fromEntries(Array.from({ length: 14 }, (_, n) => criterion(n)).filter((_, n) => (at + n) % 6 > 0)),
    }
  })
}

function userRecords(night: number): Json[] {
  return Array.from({ length: 30 }, (_, at) => ({
    id: `u${at}`,
    email: `u${at}@example.com`,
    createdAt: new Date(now - dice(at, 120) * dayMs).toISOString(),
  })).filter((_, at) => (at + night) % 9 > 0)
}

function computerRecords(): Json[] {
  return Array.from({ length: 12 }, (_, at) => ({
    id: `c${at}`,
    name: [`machine ${at % 9}`, oddNames[1] ?? '', null][at % 4] ?? null,
  }))
}

function eventRecords(): Json[] {
  const names = ['Notification', 'Stop', 'SessionEnd', 'Notification', 'Unheard']
  return Array.from({ length: 120 }, (_, at): Json => {
    // Some happen at the same time as others of their session.
    const occurredAt = new Date(
      now - dice(Math.floor(at / 2), at < 60 ? 7 : 100) * dayMs - dice(at, 3) * 20 * 60_000,
    ).toISOString()
    const eventName = names[dice(at, names.length)] ?? 'Stop'
    const reason = eventName === 'SessionEnd' ? named(at, 'reason', 8) : null
    const stored = new Date(Date.UTC(2026, 3, 1)).toISOString()
    return {
      eventId: `e${at}`,
      eventName,
      sessionId: at % 10 ? `s${dice(at, 6)}` : null,
      reason,
      occurredAt,
      receivedAt: stored,
      storedAt: stored,
    }
  })
}

function limitRecords(): Json[] {
  return Array.from({ length: 60 }, (_, at): Json => {
    const recordedAt = new Date(now - dice(at, 100) * dayMs).toISOString()
    const person = at % 23 === 0 ? (oddNames[0] ?? '') : `u${at % 23}@example.com`
    const until = at % 4 ? null : new Date(now + dice(at, 40) * dayMs).toISOString()
    const asked = { requestId: 'q', requestedAt: recordedAt, requestedBy: 'x', source: 'y', index: at }
    return {
      outcomeId: `o${at}`,
      ...asked,
      identity: person,
      address: person,
      limit: dice(at, 500),
      previousLimit: null,
      outcome: at % 8 ? 'applied' : 'rejected',
      reason: null,
      apiCall: null,
      recordedAt,
      until,
    }
  })
}

/** A lake after two nights: records changed, came and went. */
export async function lakeOfTwoNights() {
  const world = createTablesWorld()
  for (const night of [0, 1]) {
    await world.night([
      [sessions, sessionRecords(night)],
      [computers, computerRecords()],
      [readinessReports, reportRecords().slice(night)],
      [organizationUsers, userRecords(night)],
      [hookEvents, eventRecords()],
      [creditLimitOutcomes, limitRecords()],
    ])
  }
  const { files, rows, pointers, address } = world.icebergDeps()
  const deps: LakeRowsDeps = {
    ...{ files, rows, lake: world.lake },
    currentFiles: (of) => currentFiles(of, { files, pointers, address }),
  }
  const { connection, close } = await openLakeDatabase(world)
  // Each question would read the files anew, and there are many.
  for (const table of new Set(pictures.flatMap(({ source }) => source.reads.map((reading) => reading.table)))) {
    await connection.run(`create temp table ${table} as from ${table}`)
  }
  return {
    close,
    rows: createLakeRows(deps),
    /** The same where Iceberg's tables are not there. */
    rowsOfLog: createLakeRows({ ...deps, currentFiles: async () => null }),
    query: async (sql: string): Promise<Value[][]> => (await ask(connection, sql)).rows,
  }
}

/** A lake that nothing was published of. */
export const noRows: LakeRows = { readColumns: async () => {} }
