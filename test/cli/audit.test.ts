import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { diffSettings } from '../../lib/audit/changes/diff.ts'
import { sayChange } from '../../lib/cli/audit-diff.ts'
import { createOutput } from '../../lib/cli/output.ts'
import { BuiltInPlatform, writeBuiltInPlatform } from '../../lib/local/built-in-platform.ts'
import { cliHere, temporaryFolder } from './cli.ts'

const folder = temporaryFolder()
const state = join(folder.path, 'state')
const local = `--local=${state}`
function audit(...args: string[]) {
  return cliHere(['audit', ...args])
}
const stream = 'enterprise_control_revisions'
afterAll(folder.remove)

beforeAll(async () => {
  const counts = { reports: 1, sessions: 1, users: 1, revisions: 12, computers: 1 }
  writeBuiltInPlatform(state, BuiltInPlatform.parse({ counts }))
  expect((await cliHere(['sync', stream, local])).code).toBe(0)
})

describe('the audit commands', () => {
  it('verify says what was checked and up to which digest, for people and as JSON', async () => {
    const { code, stdout } = await audit('verify', local)
    expect(code).toBe(0)
    expect(stdout).toContain('12 entries, 0 findings, 1 digests')
    expect(stdout).toMatch(/Newest digest: number 1 of \S+, up to entry 12\./)
    expect(stdout).toMatch(/^The evidence is complete and unaltered up to digest 1 of \S+Z\.$/m)
    const json = JSON.parse((await audit('verify', local, '--json')).stdout)
    expect(json).toMatchObject({
      ok: true,
      checked: { entries: 12 },
      newestDigest: { sequence: 1 },
      faults: [],
      notes: [],
    })
    expect(stdout).toContain(`for --expect: ${json.newestDigest.hash}`)
    expect(await audit('verify', local, '--key-id', json.keyIds[0])).toMatchObject({ code: 0 })
    expect(await audit('verify', local, '--key-id', '0'.repeat(64))).toMatchObject({ code: 1 })
    expect(await audit('verify', local, '--key-id', 'abc')).toMatchObject({ code: 2 })
  })

  it('verify does not call a trail complete that is not there', async () => {
    const empty = mkdirSync(join(folder.path, 'empty'), { recursive: true }) as string
    const { code, stdout } = await audit('verify', `--local=${empty}`)
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
    expect(page).toContain('The evidence is complete and unaltered up to digest 1 of ')
    expect(page.match(/<tr id="entry-/g)).toHaveLength(12)
    expect(page).not.toMatch(/-secret-/)
  })

  it('export writes a pack that verifies offline, and no longer when a byte of it is changed', async () => {
    const out = join(folder.path, 'pack')
    const exported = await audit('export', local, '--out', out)
    expect(exported.code).toBe(0)
    expect(exported.stdout).toMatch(/^ {2}node verify\.mjs --key-id [0-9a-f]{64} --expect [0-9a-f]{64}$/m)
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
    expect(readdirSync(out).filter((name) => name.startsWith('.'))).toEqual([])
  })

  it('verify holds the trail, or a copy, against what was noted elsewhere', async () => {
    const bucket = join(state, 's3', 'platform-sync-audit')
    const { newestDigest } = JSON.parse((await audit('verify', local, '--json')).stdout)
    const later = new Date(Date.parse(newestDigest.writtenAt) + 1).toISOString()
    for (const where of [local, `--from=${bucket}`]) {
      const right = await audit('verify', where, '--expect', newestDigest.hash, '--as-of', newestDigest.writtenAt)
      expect([right.code, right.stdout]).toEqual([0, expect.stringContaining('It has the digest that you expect.')])
      const other = await audit('verify', where, '--json', '--expect', 'A'.repeat(64))
      expect([other.code, JSON.parse(other.stdout)]).toMatchObject([
        1,
        { ok: false, expected: { digest: 'a'.repeat(64), asOf: null }, faults: [{ kind: 'set_back' }] },
      ])
      const old = await audit('verify', where, '--as-of', later)
      expect([old.code, old.stdout]).toEqual([1, expect.stringContaining(`older than ${later}`)])
    }
    for (const args of [
      ['--expect', 'abc'],
      ['--as-of', 'yesterday'],
      ['--as-of', '2026-02-31'],
    ]) {
      expect(await audit('verify', '--from', bucket, ...args)).toMatchObject({ code: 2 })
    }
    expect((await audit('verify', '--from', bucket)).stdout).toContain(
      'A copy that was set back to an earlier day looks',
    )
  })

  it('verify asks for a folder, not a file', async () => {
    const file = join(folder.path, 'no-folder')
    writeFileSync(file, '')
    for (const from of [file, join(file, 'below'), join(folder.path, 'nowhere')]) {
      const { code, stderr } = await audit('verify', '--from', from)
      expect([code, stderr]).toEqual([2, expect.stringContaining(`There is no folder ${from}.`)])
    }
  })

  it('a secret that another replaced reads as changed, and as nothing else', () => {
    const stdout = new PassThrough()
    const [a, b] = ['a', 'b'].map((digit) => ({ apiKey: `redacted:hmac-sha256:${digit.repeat(16)}` }))
    const io = createOutput({ stdout, stderr: new PassThrough(), json: false })
    for (const change of diffSettings(a, b, { comparableSecrets: true })) sayChange(change, io)
    expect(String(stdout.read())).toBe('  apiKey secret changed\n')
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

describe('the audit commands on a trail with faults', () => {
  const stateCopy = (name: string) => {
    const copy = join(folder.path, name)
    cpSync(state, copy, { recursive: true })
    return { there: `--local=${copy}`, signingKey: join(copy, 'audit-signing-key.pem'), copy }
  }
  const withoutAnEntry = (name: string) => {
    const { there, copy } = stateCopy(name)
    rmSync(join(copy, 's3/platform-sync-audit/audit/entries/0000000005.json'))
    return there
  }

  it('report writes the page, and fails', async () => {
    const out = join(folder.path, 'faults.html')
    const { code, stdout } = await audit('report', withoutAnEntry('faulty'), '--out', out)
    expect([code, stdout]).toEqual([1, expect.stringContaining('It lists 1 fault of the evidence.')])
    expect(readFileSync(out, 'utf8')).toContain('0000000005.json')
  })

  it('export leaves nothing behind when it fails', async () => {
    const there = withoutAnEntry('unexportable')
    const [made, found] = [join(folder.path, 'made'), join(folder.path, 'found')]
    mkdirSync(found)
    for (const out of [made, found]) {
      const { code, stderr } = await audit('export', there, '--out', out)
      expect([code, stderr]).toEqual([1, expect.stringContaining('0000000005.json is not there')])
    }
    expect(existsSync(made)).toBe(false)
    expect(readdirSync(found)).toEqual([])
  })

  it('verify and report trust no key but the one that signs here, unless others are named', async () => {
    const { there, signingKey } = stateCopy('another-key')
    const { keyIds, keysFrom } = JSON.parse((await audit('verify', there, '--json')).stdout)
    expect([keyIds.length, keysFrom]).toEqual([1, 'signer'])
    rmSync(signingKey)
    const { code, stdout } = await audit('verify', there)
    expect([code, stdout]).toEqual([1, expect.stringContaining(`is signed by the key ${keyIds[0]}, which is not one`)])
    const named = JSON.parse((await audit('verify', there, '--json', '--key-id', keyIds[0])).stdout)
    expect(named).toMatchObject({ ok: true, keysFrom: 'arguments' })
    const out = join(folder.path, 'keys.html')
    expect(await audit('report', there, '--out', out)).toMatchObject({ code: 1 })
    expect(await audit('report', there, '--out', out, '--key-id', keyIds[0])).toMatchObject({ code: 0 })
  })

  it('verify says of a copy that its keys come from itself', async () => {
    const bucket = join(state, 's3', 'platform-sync-audit')
    expect((await audit('verify', '--from', bucket)).stdout).toContain('taken from the copy itself')
    expect(JSON.parse((await audit('verify', '--from', bucket, '--json')).stdout)).toMatchObject({ keysFrom: 'copy' })
  })
})

describe('a sync with an audit trail', () => {
  const rules = JSON.stringify([{ id: 'anything', paths: ['**'], severity: 'warning', why: 'Someone wants to know.' }])
  const sync = (...args: string[]) => cliHere(['sync', stream, local, ...args], { AUDIT_WATCH_RULES: rules })

  it('tells what deserves attention by the rules of the configuration, and signs what it recorded', async () => {
    const { stdout } = await sync('--skip-days', '1')
    expect(stdout).toMatch(/^warning {2}revision 1\d: \S+ (changed|added|removed) by \S+\. Someone wants to know\.$/m)
    const quiet = JSON.parse((await sync('--json')).stdout)
    expect(quiet.streams[0].notices).toEqual([])
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
  })
})
