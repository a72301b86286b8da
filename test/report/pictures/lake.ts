import { openLakeDatabase } from '../../../lib/cli/lake-database.ts'
import { ask, type Value } from '../../../lib/cli/query-rows.ts'
import type { Json } from '../../../lib/core/json.ts'
import type { LakeRows } from '../../../lib/report/pictures/ports.ts'
import { createLakeRows } from '../../../lib/stores/lake-rows.ts'
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

/** A lake after two nights: records changed, came and went. */
export async function lakeOfTwoNights() {
  const world = createTablesWorld()
  for (const night of [0, 1]) {
    await world.night([[sessions, sessionRecords(night)]])
  }
  const { files, rows, pointers, address } = world.icebergDeps()
  const deps = { files, rows, pointers, address, lake: world.lake }
  return {
    rows: createLakeRows(deps),
    /** The same where Iceberg's tables are not there. */
    rowsOfLog: createLakeRows({ ...deps, pointers: { find: async () => null } }),
    query: async (sql: string): Promise<Value[][]> => {
      const { connection, close } = await openLakeDatabase(world, sql)
      try {
        return (await ask(connection, sql)).rows
      } finally {
        await close()
      }
    },
  }
}

/** A lake that nothing was published of. */
export const noRows: LakeRows = { readColumns: async () => {} }
