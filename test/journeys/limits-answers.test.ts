import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { cliHere, temporaryFolder } from '../cli/cli.ts'

const folder = temporaryFolder()
const local = `--local=${folder.path}/data`
let simulator: Simulator
let users: string[]
beforeAll(async () => {
  simulator = await startSimulator({ counts: { users: 20 } })
  const response = await fetch(`${simulator.baseUrl}/api/v0/organization/users?limit=100`, {
    headers: { authorization: 'Bearer sim-key' },
  })
  users = ((await response.json()) as { users: { email: string }[] }).users.map(({ email }) => email)
})
afterAll(async () => {
  await simulator.close()
  folder.remove()
})

function cli(...args: string[]) {
  const { appUrl, baseUrl } = simulator
  const platform = { PLATFORM_APP_URL: appUrl, PLATFORM_BASE_URL: baseUrl, PLATFORM_API_KEY: 'sim-key' }
  return cliHere([...args, local], platform)
}
function run(...args: string[]) {
  return cli('limits', ...args)
}
async function json(...args: string[]) {
  const ended = await run(...args, '--json')
  return { ...ended, document: JSON.parse(ended.stdout) }
}
type Row = { email: string } & Record<string, unknown>
function byAddress(rows: Row[]): Row[] {
  return rows.toSorted((a, b) => (a.email < b.email ? -1 : 1))
}
async function applied(name: string, lines: string[], ...how: string[]): Promise<string> {
  const path = join(folder.path, name)
  writeFileSync(path, ['Team;E-Mail;Limit', ...lines.map((line) => `it;${line}`)].join('\n'))
  const { document } = await json('plan', path)
  await run('apply', document.id, ...how)
  return document.id
}

describe('who answers for a limit', () => {
  let first: string
  let second: string
  beforeAll(async () => {
    const [ana, bob] = users as [string, string]
    first = await applied('first.csv', [`${ana};100`, `${bob};200`, 'nobody@elsewhere.example;5'])
    second = await applied('second.csv', [`${ana};1000`, `${bob};2000`], '--as', 'Cy', '--reason', 'the spring release')
  })

  it('is shown with every limit that somebody had, newest first', async () => {
    const { code, stdout } = await run('history', ` ${String(users[0]).toUpperCase()}`)
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`^${users[0]}: 1,000 since 20`))
    expect(stdout).toMatch(
      / UTC {2}100 -> 1,000 {2}applied\n {2}plan [0-9a-f]{16} of second\.csv: the spring release; asked by Cy\n/,
    )
    expect(stdout).toMatch(/ UTC {2}\? -> 100 {2}applied\n {2}plan [0-9a-f]{16} of first\.csv; asked by \S+\n$/)
    const { document } = await json('history', users[0] ?? '', '--most', '1')
    expect(document).toMatchObject({
      more: true,
      state: { limit: 1000 },
      outcomes: [{ planId: second, why: 'the spring release' }],
    })
  })

  it("is shown with the platform's words where it refused", async () => {
    const { stdout } = await run('history', 'nobody@elsewhere.example')
    expect(stdout).toMatch(/the platform refused what was asked for.*rejected\n.*\n {2}the platform said: \S/s)
    expect((await run('history', 'zoe@x.io')).stdout).toBe('zoe@x.io: the ledger knows no limit of this address\n')
    expect((await run('history', 'zoe')).code).toBe(2)
  })

  it('is on one page, with the sum of all limits', async () => {
    const out = join(folder.path, 'pages', 'limits.html')
    const { code, document } = await json('report', '--out', out)
    expect([code, document]).toEqual([0, { file: out, people: 2, changes: 4, refused: 1, waiting: 0 }])
    expect(readFileSync(out, 'utf8')).toContain('<dd>3,000</dd>')
    const nowhere = await run('report', '--out', join(out, 'inside-a-file.html'))
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining("can't be written")])
  })

  it('is asked of the lake as docs/limits.md says', async () => {
    expect((await cli('sync', 'credit_limit_outcomes')).code).toBe(0)
    const page = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8')
    const [, sql = ''] = /```sql\n(.*?)```/s.exec(page) ?? []
    const rows: Row[] = JSON.parse((await cli('query', sql, '--json')).stdout)
    const [ana, bob] = users as [string, string]
    // Two outcomes of one batch may bear the same millisecond: which of them stands first is not promised.
    expect(byAddress(rows.slice(0, 2))).toMatchObject(
      byAddress([
        {
          email: ana,
          credit_limit: 1000,
          previous_credit_limit: 100,
          requested_by: 'Cy',
          reason: 'the spring release',
        },
        {
          email: bob,
          credit_limit: 2000,
          previous_credit_limit: 200,
          requested_by: 'Cy',
          reason: 'the spring release',
        },
      ]),
    )
    expect(byAddress(rows.slice(2))).toMatchObject(
      byAddress([
        { email: ana, credit_limit: 100, previous_credit_limit: null },
        { email: bob, credit_limit: 200, previous_credit_limit: null },
      ]),
    )
  })

  it('is told of a plan that was applied before', async () => {
    const { code, stderr } = await run('apply', second)
    expect(code).toBe(1)
    expect(stderr).toMatch(/was applied already: on 20\S+ \S+ UTC, by Cy\./)
  })

  it('can be set back, as far as nothing newer changed it', async () => {
    const [ana, bob] = users as [string, string]
    await applied('newer.csv', [`${bob};7`])
    const { code, document, stdout } = await json('rollback', second)
    expect([code, document.source]).toEqual([3, `rollback of plan ${second}`])
    expect(document.changes).toMatchObject([{ email: ana, from: 1000, limit: 100, rule: 'rollback' }])
    expect(document.invalid).toMatchObject([{ reason: 'a newer request changed it to 7', text: `${bob},2000` }])
    expect(stdout).toContain(document.id)
    expect((await run('apply', document.id)).code).toBe(0)
    expect(simulator.limits.get(ana)).toBe(100)
    expect((await run('history', ana)).stdout).toContain(`rollback, plan ${document.id} of rollback of plan ${second}`)
  })

  it('has no way back from a first limit, unless one is named', async () => {
    const without = await run('rollback', first)
    expect([without.code, without.stdout]).toEqual([1, expect.stringContaining('--unknown <limit>')])
    expect((await run('rollback', '0123456789abcdef')).stderr).toContain('changed nothing since')
  })
})
