import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BuiltInPlatform, writeBuiltInPlatform } from '../../lib/local/built-in-platform.ts'
import { cliHere, temporaryFolder } from './cli.ts'

const folder = temporaryFolder()
const state = join(folder.path, 'state')
const local = `--local=${state}`
const audit = (...args: string[]) => cliHere(['audit', ...args])
const stream = 'enterprise_control_revisions'
afterAll(folder.remove)

beforeAll(async () => {
  const counts = { reports: 1, sessions: 1, users: 1, revisions: 12, computers: 1 }
  writeBuiltInPlatform(state, BuiltInPlatform.parse({ counts }))
  expect((await cliHere(['sync', stream, local])).code).toBe(0)
}, 60_000)

describe('the audit commands', () => {
  it('verify says what was checked and up to which digest, for people and as JSON', async () => {
    const { code, stdout } = await audit('verify', local)
    expect(code).toBe(0)
    expect(stdout).toContain('12 entries, 0 findings, 1 digests')
    expect(stdout).toMatch(/Newest digest: number 1 of \S+, up to entry 12\./)
    expect(stdout).toContain('complete and unaltered')
    const json = JSON.parse((await audit('verify', local, '--json')).stdout)
    expect(json).toMatchObject({ ok: true, checked: { entries: 12 }, newestDigest: { sequence: 1 }, faults: [] })
    expect(await audit('verify', local, '--key-id', json.keyIds[0])).toMatchObject({ code: 0 })
    expect(await audit('verify', local, '--key-id', '0'.repeat(64))).toMatchObject({ code: 1 })
    expect(await audit('verify', local, '--key-id', 'abc')).toMatchObject({ code: 2 })
  })

  it('verify does not call a trail complete that is not there', async () => {
    const { code, stdout } = await audit('verify', `--local=${join(folder.path, 'mistyped')}`)
    expect([code, stdout]).toEqual([1, expect.stringContaining('nothing can be verified')])
    expect(stdout).not.toContain('complete')
  })

  it.each(['report', 'export'])('%s says when it can not write where it should', async (command) => {
    const file = join(folder.path, `a-file-${command}`)
    writeFileSync(file, '')
    const { code, stderr } = await audit(command, local, '--out', join(file, 'below'))
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^.* can't be written: .*\n$/)])
  })

  it('show and diff tell who changed what, and no secret', async () => {
    const shown = await audit('show', '11', local)
    expect(shown.stdout).toMatch(/^revision 11, \S+, by .*admin/)
    expect(shown.stdout).toContain('Settings as of revision 11:')
    const { stdout } = await audit('diff', '11', '2', local)
    expect(stdout).toMatch(/^- revision 11, .*\n\+ revision 2, /)
    expect(`${shown.stdout}${stdout}`).not.toMatch(/-secret-|hmac/)
    const { changes } = JSON.parse((await audit('diff', '2', '11', local, '--json')).stdout)
    expect(changes.length).toBeGreaterThan(3)
    expect(await audit('diff', '2', '2', local)).toMatchObject({
      stdout: expect.stringContaining('No setting differs.'),
    })
  })

  it('show and diff say which revision is not recorded', async () => {
    for (const args of [
      ['show', '99'],
      ['diff', '1', '99'],
    ]) {
      const { code, stderr } = await audit(...args, local)
      expect([code, stderr]).toEqual([2, expect.stringContaining('No revision 99 is recorded')])
    }
  })

  it('report writes one page with the verification and every revision', async () => {
    const out = join(folder.path, 'report.html')
    expect(await audit('report', local, '--out', out)).toMatchObject({ code: 0 })
    const page = readFileSync(out, 'utf8')
    expect(page).toContain('The evidence is complete and unaltered.')
    expect(page.match(/<li id="entry-/g)).toHaveLength(12)
    expect(page).not.toMatch(/-secret-/)
  })

  it('export writes a pack that verifies offline, and no longer when a byte of it is changed', async () => {
    const out = join(folder.path, 'pack')
    const exported = await audit('export', local, '--out', out)
    expect(exported.code).toBe(0)
    expect(existsSync(join(out, 'report.html'))).toBe(true)
    expect(await audit('verify', '--from', out)).toMatchObject({ code: 0 })
    expect((await audit('verify', '--from', out)).stdout).not.toContain('bare copy')
    const bucket = join(state, 's3', 'platform-sync-audit')
    expect((await audit('verify', '--from', bucket)).stdout).toContain('bare copy')
    expect(await audit('export', local, '--out', out)).toMatchObject({ code: 2 })
    const entry = join(out, 'audit/entries/0000000005.json')
    writeFileSync(entry, readFileSync(entry, 'utf8').replace('"revision":5', '"revision":6'))
    const altered = await audit('verify', '--from', out)
    expect(altered.code).toBe(1)
    expect(altered.stdout).toContain('audit/entries/0000000005.json')
    expect(await audit('verify', '--from', join(folder.path, 'nowhere'))).toMatchObject({ code: 2 })
  })

  it('without a bucket say what to set, and a sync then records nothing', async () => {
    const variables = { AWS_REGION: 'eu-central-1', STATE_TABLE: 's', RECORDS_TABLE: 'r', LAKE_BUCKET: 'l' }
    const without = await cliHere(['audit', 'verify'], variables)
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('AUDIT_BUCKET is missing')])
    const unsigned = await cliHere(['audit', 'verify'], { ...variables, AUDIT_BUCKET: 'a' })
    expect([unsigned.code, unsigned.stderr]).toEqual([2, expect.stringContaining('AUDIT_SIGNING_KEY_ARN')])
    const rules = { AUDIT_BUCKET: 'a', AUDIT_SIGNING_KEY_FILE: join(folder.path, 'k.pem'), AUDIT_WATCH_RULES: '[{}]' }
    const wrong = await cliHere(['audit', 'verify'], { ...variables, ...rules })
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('AUDIT_WATCH_RULES')])
  })
})

describe('a sync with an audit trail', () => {
  const rules = JSON.stringify([{ id: 'anything', paths: ['**'], severity: 'warning', why: 'Someone wants to know.' }])
  const sync = (...args: string[]) => cliHere(['sync', stream, local, ...args], { AUDIT_WATCH_RULES: rules })

  it('tells what deserves attention by the rules of the configuration, and signs what it recorded', async () => {
    const { stdout } = await sync('--skip-days', '1')
    expect(stdout).toMatch(/^warning {2}revision 1\d: \S+ (changed|added|removed) by \S+\. Someone wants to know\.$/m)
    const quiet = JSON.parse((await sync('--json')).stdout)
    expect(quiet.streams[0].remarks).toEqual([])
    const { checked, unsignedEntries } = JSON.parse((await audit('verify', local, '--json')).stdout)
    expect([checked.digests, unsignedEntries]).toEqual([2, 0])
    const query = 'select count(*) as n from enterprise_setting_changes_current where rules is not null'
    const [answer] = JSON.parse((await cliHere(['query', local, query, '--json'])).stdout)
    expect(Number(answer.n)).toBeGreaterThan(0)
  })

  it('refuses to write over entries when the head was lost, and goes on when it is restored', async () => {
    const copy = join(folder.path, 'copy')
    cpSync(state, copy, { recursive: true })
    const there = `--local=${copy}`
    rmSync(join(copy, 'dynamodb'), { recursive: true })
    const lost = await cliHere(['sync', stream, there])
    expect([lost.code, lost.stdout]).toEqual([1, expect.stringContaining('audit restore-head')])
    expect(await audit('verify', there)).toMatchObject({ code: 1 })
    expect(await audit('restore-head', there)).toMatchObject({ code: 0 })
    expect(await audit('restore-head', there)).toMatchObject({ code: 2 })
    expect(await audit('verify', there)).toMatchObject({ code: 0 })
    expect(await cliHere(['sync', stream, there])).toMatchObject({ code: 0 })
  }, 60_000)
})
