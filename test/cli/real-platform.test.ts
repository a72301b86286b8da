import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { cliHere, cliIn, type Ended, temporaryFolder } from './cli.ts'

const key = 'key_live_CANARY_7f3a'
const folder = temporaryFolder()
const outputs: Ended[] = []
let simulator: Simulator
let environment: Record<string, string>

const { run } = cliIn(folder.path)
async function kept(ended: Promise<Ended>) {
  outputs.push(await ended)
  return ended
}
const data = join(folder.path, 'data')
function sync(...args: string[]) {
  return kept(cliHere(['sync', '--local', data, ...args], environment))
}
async function here(args: string[], variables: Record<string, string> = {}) {
  const { stdout, ...rest } = await kept(cliHere([...args, '--local', data, '--json'], variables))
  return { ...rest, document: JSON.parse(stdout) }
}
async function query(sql: string) {
  return (await here(['query', sql])).document
}

beforeAll(async () => {
  simulator = await startSimulator({
    apiKey: key,
    counts: { reports: 30, sessions: 120, users: 60, revisions: 10, computers: 5 },
  })
  environment = {
    PLATFORM_APP_URL: simulator.appUrl,
    PLATFORM_BASE_URL: simulator.baseUrl,
    PLATFORM_API_KEY: key,
  }
})
afterAll(async () => {
  await simulator.close()
  folder.remove()
})

describe('a platform that the environment names', () => {
  it('is read into the folder, with results on stdout and progress on stderr', async () => {
    const { code, stdout, stderr } = await kept(run(['sync', '--local', './data'], environment))
    expect(code).toBe(0)
    expect(stdout).toMatch(/^sessions +complete +120 +120 /m)
    expect(stderr).toContain('sessions: complete, 120 records read')
    expect(stdout).not.toContain('records read')
    expect(stderr).not.toContain('built-in platform')
  })

  it('fails with what to check when the key is wrong: exit 1, and nothing is deleted', async () => {
    const { code, document, stderr } = await here(['sync'], { ...environment, PLATFORM_API_KEY: 'wrong' })
    expect(code).toBe(1)
    expect(document.status).toBe('failed')
    const own = ['credit_limit_outcomes', 'hook_events']
    const lists = document.streams.filter(({ stream }: { stream: string }) => !own.includes(stream))
    expect(lists).toHaveLength(5)
    for (const { status, reason, counts } of lists) {
      expect(status).toBe('failed')
      expect(reason).toContain('/settings/api-keys')
      expect(counts.deleted).toBe(0)
    }
    expect(stderr).not.toMatch(/^ {4}at /m)
    expect(await query('select count(*) as n from organization_users_current')).toEqual([{ n: 60 }])
  })

  it('skips a stream that is forbidden, completes the others, and hides a key that the answer repeats: exit 3', async () => {
    const fault = simulator.fault({ kind: 'echoKey', endpoint: 'listComputers', status: 403 })
    const { code, stdout } = await sync()
    fault.remove()
    expect(code).toBe(3)
    expect(stdout).toMatch(/^computers +skipped /m)
    expect(stdout).toMatch(/^skipped computers: .*403.*ask its administrator/m)
    expect(stdout).toMatch(/^sessions +complete +120 +0 +0 +120 /m)
  })

  it('shows each stream and the last run', async () => {
    const { code, document } = await here(['status'])
    expect(code).toBe(0)
    expect(document.lastRun.status).toBe('partial')
    expect(document.streams.find(({ stream }: { stream: string }) => stream === 'computers')).toMatchObject({
      status: 'skipped',
      records: 5,
    })
    expect(document.streams.find(({ stream }: { stream: string }) => stream === 'sessions')).toMatchObject({
      status: 'complete',
      records: 120,
      changed: 0,
      leaseHolder: null,
      lagSeconds: expect.any(Number),
    })
  })

  it('withholds deletes of a list that came empty, until they are approved', async () => {
    const fault = simulator.fault({ kind: 'emptyList', endpoint: 'listUsers' })
    const { code, stdout } = await sync('organization_users')
    expect(code).toBe(3)
    expect(stdout).toContain('platform-sync approve organization_users')
    expect(await query('select count(*) as n from organization_users_current')).toEqual([{ n: 60 }])

    const approved = await here(['approve', 'organization_users'])
    expect(approved.document).toMatchObject({ status: 'complete', deleted: 60 })
    expect(await query('select count(*) as n from organization_users_current')).toEqual([{ n: 0 }])
    fault.remove()
    const again = await cliHere(['approve', 'organization_users', '--local', data])
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('nothing to approve')])
  })

  it('reads a stream anew after a reset', async () => {
    const { code, stdout } = await cliHere(['reset', 'sessions', '--index', '--local', data])
    expect([code, stdout]).toEqual([0, expect.stringContaining('writes every record again')])
    const { document } = await here(['sync', 'sessions'], environment)
    expect(document.streams).toMatchObject([
      { stream: 'sessions', counts: { inserted: 0, updated: 120, unchanged: 0 } },
    ])
    expect(await query('select count(*) as n from sessions_current')).toEqual([{ n: 120 }])
  })

  it('names a table that is behind, as the run and as the status, until a run brings it up to date: exit 3', async () => {
    const [hint] = globSync(join(data, 's3/*/iceberg/sessions_current/metadata/version-hint.text'))
    const before = readFileSync(hint!)
    writeFileSync(hint!, 'no version')
    await cliHere(['reset', 'sessions', '--index', '--local', data])
    const { code, stdout } = await sync('sessions')
    expect([code, stdout]).toEqual([
      3,
      expect.stringMatching(/^behind table sessions_current is behind since 20.*is gone/m),
    ])
    const { document } = await here(['status'])
    expect(document.behind).toEqual([
      { table: 'sessions_current', since: expect.any(String), reason: expect.any(String) },
    ])
    expect((await cliHere(['status', '--local', data])).stdout).toContain(
      'behind table sessions_current is behind since',
    )
    writeFileSync(hint!, before)
    expect((await sync('sessions')).code).toBe(0)
    expect((await here(['status'])).document.behind).toEqual([])
    expect(await query('select count(*) as n from sessions_current')).toEqual([{ n: 120 }])
  })

  it('is found well by the doctor, or said what is wrong with', async () => {
    const well = await here(['doctor'], environment)
    expect([well.code, well.document.ok]).toEqual([0, true])
    const wrong = await kept(cliHere(['doctor', '--local', data], { ...environment, PLATFORM_API_KEY: 'wrong' }))
    expect(wrong.code).toBe(1)
    expect(wrong.stdout).toMatch(/✗ sessions .*401/)
  })

  it('is not mixed with the built-in one', async () => {
    const { code, stderr } = await cliHere(['sync', '--local', data])
    expect([code, stderr]).toEqual([2, expect.stringContaining('PLATFORM_* is not set')])
    const demo = await cliHere(['demo', '--local', data])
    expect([demo.code, demo.stderr]).toEqual([2, expect.stringContaining('data of another platform')])
    expect(await query('select count(*) as n from sessions_current')).toEqual([{ n: 120 }])
  })

  it('HTTP-10: shows its key in no output', () => {
    expect(outputs.length).toBeGreaterThan(3)
    const all = outputs.map(({ stdout, stderr }) => stdout + stderr).join('\n')
    for (const form of [key, Buffer.from(key).toString('base64').slice(0, -4), encodeURIComponent(`Bearer ${key}`)]) {
      expect(all).not.toContain(form)
    }
    expect(readFileSync(join(folder.path, 'data', 'redaction-key'), 'utf8')).toHaveLength(64)
  })
})
