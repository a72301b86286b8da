import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHere, temporaryFolder } from '../cli/cli.ts'
import { readLeftFolder, type ShownPlatform, sessionPages, showLists } from '../support/worlds/left-behind.ts'

const { lists, putInto } = readLeftFolder()
/** The platform as it stood when the older version was last run. */
let platform: ShownPlatform

const folder = temporaryFolder()
const data = join(folder.path, 'data')
let variables: Record<string, string>

async function here(...args: string[]) {
  const { stdout, ...rest } = await cliHere([...args, '--local', data, '--json'], variables)
  return { ...rest, document: JSON.parse(stdout) }
}
async function query(sql: string) {
  return (await here('query', sql)).document
}
const rowsOfEach = `select (select count(*) from sessions) as sessions, (select count(*) from organization_users) as users,
  (select count(*) from readiness_reports) as reports, (select count(*) from enterprise_control_revisions) as revisions,
  (select count(*) from computers) as computers, (select count(*) from enterprise_setting_changes) as changes`

beforeAll(async () => {
  putInto(data)
  platform = await showLists(lists)
  variables = { PLATFORM_APP_URL: platform.address, PLATFORM_BASE_URL: platform.address, PLATFORM_API_KEY: 'key' }
})
afterAll(() => {
  platform.close()
  folder.remove()
})

type StreamOfRun = { stream: string; status: string; counts: Record<string, number>; apiCalls: number }

async function sync() {
  platform.asked.length = 0
  const { code, document } = await here('sync')
  const streams: StreamOfRun[] = document.streams
  const counts = streams.map(({ stream, status, counts: { inserted, updated, deleted } }): [string, unknown] => [
    stream,
    { status, inserted, updated, deleted },
  ])
  return { code, counts: Object.fromEntries(counts) }
}

const unchanged = { status: 'complete', inserted: 0, updated: 0, deleted: 0 }
const left = [{ sessions: 33, users: 23, reports: 7, revisions: 9, computers: 5, changes: 61 }]

describe('a folder that version 0.1.0 left', () => {
  it('is looked at as it is', async () => {
    const { code, document } = await here('status')
    expect(code).toBe(0)
    expect(document.streams).toContainEqual(
      expect.objectContaining({ stream: 'sessions', status: 'failed', records: 31, scanInProgress: expect.anything() }),
    )
    expect(await query(rowsOfEach)).toEqual(left)
    expect(await here('audit', 'verify')).toMatchObject({ code: 0, document: { ok: true, checked: { entries: 9 } } })
  })

  it('goes on in the night after: the broken scan where it stopped, and nothing that stands is written anew', async () => {
    const { code, counts } = await sync()
    expect(code).toBe(0)
    expect(counts).toMatchObject({
      sessions: unchanged,
      organization_users: unchanged,
      readiness_reports: unchanged,
      enterprise_control_revisions: unchanged,
      computers: unchanged,
    })
    expect(sessionPages(platform)).toEqual(['20', '30'])
    expect(await query(rowsOfEach)).toEqual(left)
    expect(await here('audit', 'verify')).toMatchObject({ code: 0, document: { ok: true, checked: { entries: 9 } } })
  })

  it('keeps its credit limits, their outcomes and its plans', async () => {
    const outcomes = { outcome: 'applied', limits: [100, 200, 300] }
    const sql = `select outcome, list(credit_limit::int order by credit_limit) as limits
      from credit_limit_outcomes_current
      group by outcome order by outcome`
    expect(await query(sql)).toEqual([outcomes, { outcome: 'rejected', limits: [5] }])
    writeFileSync(join(folder.path, 'limits.csv'), `email,limit\n${lists.users[0]!.email},100\n`)
    const { document } = await here('limits', 'plan', join(folder.path, 'limits.csv'))
    expect(document).toMatchObject({ changes: [], same: [{ email: lists.users[0]!.email, limit: 100 }] })
  })

  it('takes in what changes after that, beside what was there', async () => {
    lists.sessions[0] = { ...lists.sessions[0], title: 'after the upgrade', updatedAt: Date.now() }
    lists.users.pop()
    const { counts } = await sync()
    expect(counts).toMatchObject({
      sessions: { ...unchanged, updated: 1 },
      organization_users: { ...unchanged, deleted: 1 },
    })
    expect(await query("select title from sessions_current where title = 'after the upgrade'")).toHaveLength(1)
    expect(await query('select count(*) as n from organization_users_current')).toEqual([{ n: 20 }])
  })
})
