import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BuiltInPlatform, writeBuiltInPlatform } from '../../lib/local/built-in-platform.ts'
import { cliHere, temporaryFolder } from './cli.ts'

const folder = temporaryFolder()
const state = join(folder.path, 'state')
const local = `--local=${state}`
const out = join(folder.path, 'report.html')
afterAll(folder.remove)

beforeAll(async () => {
  const counts = { reports: 1, sessions: 1, users: 1, revisions: 6, computers: 1 }
  writeBuiltInPlatform(state, BuiltInPlatform.parse({ counts }))
  expect((await cliHere(['sync', 'enterprise_control_revisions', local])).code).toBe(0)
})

async function page(...args: string[]): Promise<string> {
  expect(
    await cliHere(['audit', 'report', local, '--out', out, ...args], { AUDIT_ORGANIZATION: 'Example Works' }),
  ).toMatchObject({
    code: 0,
  })
  return readFileSync(out, 'utf8')
}

/** The days on which the platform says that its revisions were made, as the platform says it. */
async function daysMade(): Promise<string[]> {
  const sql = 'select updatedAt::date::varchar as day from enterprise_control_revisions_current order by revision'
  const columns = JSON.parse((await cliHere(['query', local, sql.replace('updatedAt', 'updated_at'), '--json'])).stdout)
  return columns.map(({ day }: { day: string }) => day)
}

it('audit report is about the days that are asked for, both included', async () => {
  const days = await daysMade()
  const [day = ''] = days
  const some = await page('--from', day, '--to', day)
  expect(some.match(/<tr id="entry-/g)).toHaveLength(days.filter((each) => each === day).length)
  expect(some).toContain(`<bdi>${day}</bdi>`)
  const quarter = `${day.slice(0, 4)}Q${Math.ceil(Number(day.slice(5, 7)) / 3)}`
  expect((await page('--quarter', quarter)).match(/<tr id="entry-/g)?.length).toBeGreaterThan(0)
  expect(await page('--to', '2001-01-01')).not.toContain('<tr id="entry-')
})

it('audit report tells in its head whose settings they are, as far as that is known', async () => {
  const head = (await page()).split('</header>')[0]
  expect(head).toMatch(/Organization<\/dt><dd><bdi>Example Works</)
  expect(head).toMatch(/Account<\/dt><dd><bdi>not known</)
  expect(head).toMatch(/Bucket<\/dt><dd><bdi>platform-sync-audit</)
})

it('the audit commands that only read change nothing in the folder', async () => {
  const files = () =>
    readdirSync(state, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => [join(each.parentPath, each.name), statSync(join(each.parentPath, each.name)).mtimeMs])
      .toSorted()
  const before = files()
  for (const args of [['verify'], ['show', '3'], ['diff', '2', '3'], ['report', '--out', out]])
    expect(await cliHere(['audit', ...args, local])).toMatchObject({ code: 0 })
  expect(files()).toEqual(before)
})

it('audit export has the page on a period in the pack', async () => {
  const pack = join(folder.path, 'pack')
  expect(await cliHere(['audit', 'export', local, '--out', pack, '--to', '2001-01-01'])).toMatchObject({ code: 0 })
  expect(readFileSync(join(pack, 'report.html'), 'utf8')).toContain('up to 2001-01-01')
  expect(readFileSync(join(pack, 'README.txt'), 'utf8')).toContain(
    'audit/entries/0000000001.json to audit/entries/0000000006.json',
  )
})

it.each([
  [['--quarter', '2026Q5'], 'It must be a quarter, for example 2026Q3.'],
  [['--quarter', '2026Q3', '--from', '2026-07-01'], 'Say either --quarter, or --from and --to.'],
  [['--from', '2026-02-30'], '"2026-02-30" is no day. Write 2026-05-06.'],
  [['--to', '2026-05-06T10:00:00Z'], 'is no day'],
  [['--from', '2026-07-02', '--to', '2026-07-01'], '--from 2026-07-02 is later than --to 2026-07-01'],
])('audit report refuses %j', async (args, words) => {
  const { code, stderr } = await cliHere(['audit', 'report', local, '--out', out, ...args])
  expect([code, stderr]).toEqual([2, expect.stringContaining(words)])
})
