import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { cliHere, cliIn, ended, soon, temporaryFolder } from './cli.ts'

const folder = temporaryFolder()
const local = `--local=${folder.path}/data`
let simulator: Simulator
let platform: Record<string, string>
beforeAll(async () => {
  simulator = await startSimulator({ counts: { users: 120 } })
  platform = addressesOf('sim-key')
})
afterAll(async () => {
  await simulator.close()
  folder.remove()
})

function addressesOf(key: string) {
  return {
    PLATFORM_APP_URL: simulator.appUrl,
    PLATFORM_BASE_URL: simulator.baseUrl,
    PLATFORM_API_KEY: key,
  }
}

function run(args: readonly string[], variables: Record<string, string> = {}) {
  return cliHere(['limits', ...args, local], { ...platform, ...variables })
}
async function json(args: readonly string[], variables?: Record<string, string>) {
  const ended = await run([...args, '--json'], variables)
  return { ...ended, document: JSON.parse(ended.stdout) }
}

function sheet(name: string, lines: readonly string[]) {
  mkdirSync(folder.path, { recursive: true })
  const path = join(folder.path, name)
  writeFileSync(path, `email,limit\n${lines.join('\n')}\n`)
  return path
}

async function emails(count: number): Promise<string[]> {
  const response = await fetch(`${simulator.baseUrl}/api/v0/organization/users?limit=100`, {
    headers: { authorization: 'Bearer sim-key' },
  })
  const { users } = (await response.json()) as { users: { email: string }[] }
  return users.slice(0, count).map(({ email }) => email)
}

describe('limits on the command line', () => {
  it('says what a file would do, and that unknown users can not be told before a sync', async () => {
    const [ana, ben] = await emails(2)
    const file = sheet('first.csv', [`${ana},100`, `${ben},0`, 'nobody@elsewhere.example,5', 'no-address,7'])
    const { code, stdout } = await run(['plan', file])
    expect(code).toBe(3)
    expect(stdout).toMatch(/^ +4 +3 +0 +0 +0 +1 +0 +0$/m)
    expect(stdout).toContain(`line 2: ${ana} -> 100`)
    expect(stdout).toContain('line 5: column A (email): the e-mail address is malformed: no-address,7')
    expect(stdout).toContain('The users were not synced')
    expect(simulator.limits.size).toBe(0)
  })

  it('applies the plan, says how each entry ended, and exits with 3 when not every one was applied', async () => {
    const [ana, ben] = await emails(2)
    const [id] = readdirSync(join(folder.path, 'data', 'plans')).map((name) => name.replace('.json', ''))
    const { code, document, stderr } = await json(['apply', id as string])
    expect(code).toBe(3)
    expect(document.tally).toMatchObject({ applied: 2, rejected: 1, waiting: 0 })
    expect(stderr).toContain('3 of 3 limits have their outcome')
    expect(Object.fromEntries(simulator.limits)).toEqual({ [String(ana)]: 100, [String(ben)]: 0 })
  })

  it('refuses the same plan a second time, and says that it was applied', async () => {
    const [id] = readdirSync(join(folder.path, 'data', 'plans')).map((name) => name.replace('.json', ''))
    const puts = simulator.counts.setUserLimits
    const { code, stderr } = await run(['apply', id as string])
    expect(code).toBe(1)
    expect(stderr).toMatch(/Plan [0-9a-f]{16} was applied already: on 20.* UTC, by \S+\. Nothing was sent/)
    expect(simulator.counts.setUserLimits).toBe(puts)
  })

  it('knows the users after a sync, and what is the same, changed and new', async () => {
    expect((await cliHere(['sync', 'organization_users', local], platform)).code).toBe(0)
    const [ana, ben, eve] = await emails(3)
    const file = sheet('second.csv', [`${ana},100`, `${ben},20`, `${eve},30`, 'nobody@elsewhere.example,5'])
    const { code, document } = await json(['plan', file])
    expect(code).toBe(0)
    expect(document).toMatchObject({ knowsUsers: true, same: [{ email: ana }], invalid: [], refusals: [] })
    expect(document.unknown).toEqual([{ line: 5, email: 'nobody@elsewhere.example' }])
    expect(document.changes.slice(0, 2)).toEqual([
      { line: 3, email: ben, kind: 'changed', from: 0, limit: 20 },
      { line: 4, email: eve, kind: 'new', from: null, limit: 30 },
    ])
  })

  it('exits with 0 when every entry was applied', async () => {
    const [, ben, eve] = await emails(3)
    const { document } = await json(['plan', sheet('third.csv', [`${ben},20`, `${eve},30`])])
    const { code, stdout } = await run(['apply', document.id])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^applied +2$/m)
    expect(simulator.limits.get(String(ben))).toBe(20)
  })

  it('shows outcomes by address, failure and time', async () => {
    const [, ben] = await emails(2)
    expect((await json(['outcomes', '--email', String(ben).toUpperCase()])).document).toMatchObject([
      { outcome: 'applied', previousLimit: 0, limit: 20 },
      { outcome: 'applied', previousLimit: null, limit: 0 },
    ])
    const failed = await run(['outcomes', '--failed'])
    expect(failed.stdout).toMatch(/nobody@elsewhere\.example .*rejected .*user not found/)
    expect(failed.stdout).toContain('1 outcome.')
    expect((await json(['outcomes', '--since', '2099-01-01'])).document).toEqual([])
    for (const since of ['yesterday', '2026-02-31', '2026-02-29T10:00:00Z', '2026-05-06T25:00:00Z']) {
      const { code, stderr } = await run(['outcomes', '--since', since])
      expect([code, stderr]).toEqual([2, expect.stringContaining(`"${since}" is no time`)])
    }
  })

  it('brings the outcomes to the lake with the next sync', async () => {
    expect((await cliHere(['sync', 'credit_limit_outcomes', local], platform)).code).toBe(0)
    const sql = 'select outcome, count(*) as n from credit_limit_outcomes_current group by all order by 1'
    const { stdout } = await cliHere(['query', local, '--format', 'json', sql], platform)
    expect(JSON.parse(stdout)).toEqual([
      { outcome: 'applied', n: 4 },
      { outcome: 'rejected', n: 1 },
    ])
  })

  it('shows them as a stream among the others, fresh, and in the record of the run', async () => {
    const { stdout } = await cliHere(['status', local, '--json'], platform)
    const { streams, lastRun } = JSON.parse(stdout) as {
      streams: { stream: string; status: string | null; lagSeconds: number | null }[]
      lastRun: { streams: object[] }
    }
    const standing = streams.find(({ stream }) => stream === 'credit_limit_outcomes')
    expect(standing).toMatchObject({ status: 'complete', records: 5, lagSeconds: expect.any(Number) })
    expect(lastRun.streams).toMatchObject([
      { stream: 'credit_limit_outcomes', status: 'complete', standing: { records: 5, completeAt: expect.any(Number) } },
    ])
  })

  it('exports what plan reads back without a change', async () => {
    const { code, stdout } = await run(['export'])
    expect(code).toBe(0)
    expect(stdout.split('\r\n')).toHaveLength(1 + 3 + 1)
    const file = join(folder.path, 'export.csv')
    writeFileSync(file, stdout)
    expect((await json(['plan', file])).document).toMatchObject({ changes: [], invalid: [], same: { length: 3 } })
  })

  it('keeps everything on the queue when the key is refused, and redrive goes on when it is mended', async () => {
    const [ana, ben] = await emails(2)
    const { document } = await json(['plan', sheet('key.csv', [`${ana},77`])])
    const refused = await run(['apply', document.id], addressesOf('wrong'))
    expect(refused.code).toBe(1)
    expect(refused.stdout).toMatch(/^waiting +1$/m)
    expect(refused.stderr).toMatch(/error: A message with credit limits goes back to the queue.*unauthorized/)
    expect(simulator.limits.get(String(ana))).toBe(100)

    const back = await json(['plan', sheet('back.csv', [`${ben},20`])])
    expect(back.document).toMatchObject({ unfinished: 1, same: [], changes: [{ email: ben, from: 20, limit: 20 }] })
    expect((await run(['plan', sheet('back.csv', [`${ben},20`])])).stdout).toContain(
      'Earlier requests are not finished',
    )

    expect(refused.stdout).toMatch(/^Failed, and comes again: plan-\S+ \(message \S+\): .*status 401/m)
    const redriven = await run(['redrive'])
    expect(redriven.code).toBe(0)
    expect(simulator.limits.get(String(ana))).toBe(77)
  })

  it('applies the plan of a file whose name a queue would refuse (SQS-14)', async () => {
    const [ana] = await emails(1)
    const name = 'odd \ufffe\uffff\u{1f600}.csv'
    const { document } = await json(['plan', sheet(name, [`${ana},76`])])
    expect((await run(['apply', document.id])).code).toBe(0)
    const [newest] = (await json(['outcomes', '--email', String(ana)])).document
    expect(newest).toMatchObject({ outcome: 'applied', limit: 76, source: `plan ${document.id} of ${name}` })
  })

  it('stops at Ctrl-C when the batch under way has its outcomes, and loses nothing', async () => {
    const [ana] = await emails(1)
    const { document } = await json(['plan', sheet('stopped.csv', [`${ana},78`])])
    simulator.fault({ kind: 'latency', endpoint: 'setUserLimits', ms: 1_500 })
    const before = simulator.counts.setUserLimits ?? 0
    const child = cliIn(folder.path, platform).start(['limits', 'apply', document.id, local])
    const result = ended(child)
    await soon(() => (simulator.counts.setUserLimits ?? 0) > before)
    child.kill('SIGINT')
    const { code, stdout } = await result
    expect([code, stdout]).toEqual([130, expect.stringMatching(/^applied +1$/m)])
    simulator.clearFaults()
    const [newest] = (await json(['outcomes', '--email', String(ana)])).document
    expect(newest).toMatchObject({ outcome: 'applied', limit: 78 })
    expect(simulator.limits.get(String(ana))).toBe(78)
  })

  it('says that no row is valid when none is, and not that nothing changes', async () => {
    const [ana] = await emails(1)
    const none = await run(['plan', sheet('none.csv', ['no-address,7', `${ana},1.5`])])
    expect([none.code, none.stdout]).toEqual([1, expect.stringContaining('No row is valid')])
    const some = await run(['plan', sheet('some.csv', ['no-address,7', `${ana},78`])])
    expect([some.code, some.stdout]).toEqual([3, expect.stringContaining('Nothing to change among the valid rows')])
  })

  it.each([
    ['an unknown plan', ['apply', '0123456789abcdef'], 'There is no plan 0123456789abcdef'],
    ['a path for a plan', ['apply', '../plan'], 'There is no plan ../plan'],
    ['a file that is not there', ['plan', '/nowhere/limits.csv'], "can't be read"],
  ])('exits with 2 for %s', async (_what, args, says) => {
    const { code, stderr } = await run(args)
    expect(code).toBe(2)
    expect(stderr).toContain(says)
  })

  it('refuses a file as a whole for a limit above the maximum, too many changes, or nothing in it', async () => {
    const file = sheet('large.csv', ['a@example.com,5', 'b@example.com,500'])
    const large = await run(['plan', file], { LIMITS_MAX_LIMIT: '100' })
    expect(large.code).toBe(1)
    expect(large.stdout).toContain('The largest limit allowed is 100: line 3 asks for a larger one.')
    expect((await json(['plan', file], { LIMITS_MAX_CHANGES: '1' })).document.refusals).toHaveLength(1)
    expect((await run(['plan', sheet('empty.csv', [])])).code).toBe(1)
    const { document } = await json(['plan', file])
    const refused = await run(['apply', document.id], { LIMITS_MAX_LIMIT: '100' })
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('may not be applied')])
  })

  it('says at Ctrl-C that what is on the queue goes on, and what overrides it', async () => {
    // More than the worker takes at a time.
    const many = Array.from({ length: 1_001 }, (_, i) => `user${i}@elsewhere.example,5`)
    const { document } = await json(['plan', sheet('many.csv', many)])
    const { code, stdout } = await cliHere(['limits', 'apply', document.id, local], platform, AbortSignal.abort())
    expect(code).toBe(130)
    expect(stdout).toContain('the next "limits apply --local" goes on with them. A newer plan')
  })
})
