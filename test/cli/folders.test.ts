import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toldError } from '../../lib/cli/told-error.ts'
import { FatalError } from '../../lib/core/errors.ts'
import { startEmulators } from '../../lib/local/emulators/emulators.ts'
import { lockFolder } from '../../lib/local/emulators/lock.ts'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { cliHere, cliIn, ended, temporaryFolder } from './cli.ts'

const folder = temporaryFolder()
function at(name: string) {
  return join(folder.path, name)
}
let simulator: Simulator
let real: Record<string, string>

beforeAll(async () => {
  simulator = await startSimulator({ counts: { reports: 2, sessions: 3, users: 4, revisions: 2, computers: 1 } })
  real = { PLATFORM_APP_URL: simulator.appUrl, PLATFORM_BASE_URL: simulator.baseUrl, PLATFORM_API_KEY: 'sim-key' }
})
afterAll(async () => {
  await simulator.close()
  folder.remove()
})

/** A folder with a file in it, as someone else would have it. */
function stranger(name: string, beside: Record<string, string> = {}) {
  mkdirSync(join(at(name), 's3'), { recursive: true })
  writeFileSync(join(at(name), 's3', 'notes.txt'), 'mine')
  for (const [file, text] of Object.entries(beside)) writeFileSync(join(at(name), file), text)
}

describe("a folder of someone else's", () => {
  it.each([
    ['demo', {}, 2],
    ['sync', {}, 2],
    ['demo', { 'platform.json': '{"name":"my platform","counts":7}' }, 1],
    ['demo', { 'lock.db': '' }, 2],
  ])('is left as it is by %s, beside %j', async (command, beside, expected) => {
    const name = `stranger-${command}-${Object.keys(beside).join()}`
    stranger(name, beside)
    const { code, stderr } = await cliHere([command, '--local', at(name)])
    expect([code, stderr]).toEqual([expected, expect.stringContaining(at(name))])
    expect(readFileSync(join(at(name), 's3', 'notes.txt'), 'utf8')).toBe('mine')
    expect(readdirSync(at(name)).sort()).toEqual([...Object.keys(beside), 's3'].sort())
  })
})

describe('a command that is refused', () => {
  it('changes nothing: no day passes on a platform that another process uses', async () => {
    mkdirSync(at('busy'))
    writeFileSync(join(at('busy'), 'platform.json'), '{"days":0}')
    const lock = lockFolder(at('busy'))
    const { code, stderr } = await cliHere(['sync', '--local', at('busy'), '--skip-days', '1'])
    lock.release()
    expect([code, stderr]).toEqual([2, expect.stringContaining('another platform-sync uses')])
    expect(readFileSync(join(at('busy'), 'platform.json'), 'utf8')).toBe('{"days":0}')
    expect(readdirSync(at('busy')).sort()).toEqual(['lock.db', 'platform.json'])
  })
})

describe('a folder that nothing was synced into', () => {
  it('is not made by those who only look', async () => {
    const status = await cliHere(['status', '--local', at('new')])
    expect([status.code, status.stdout]).toEqual([0, expect.stringContaining('Nothing was synced yet')])
    const query = await cliHere(['query', '--local', at('new'), '--json', 'select count(*) as n from sessions_current'])
    expect(JSON.parse(query.stdout)).toEqual([{ n: 0 }])
    for (const { stderr } of [status, query]) expect(stderr).toContain(`${at('new')} does not exist`)
    for (const command of ['limits outcomes', 'audit verify']) {
      const { code, stderr } = await cliHere([...command.split(' '), '--local', at('new')])
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${at('new')} is no folder`)])
    }
    expect(existsSync(at('new'))).toBe(false)
  })

  it("is nobody's yet when the doctor has seen it, and belongs to the platform that is synced into it first", async () => {
    expect(await cliHere(['doctor', '--local', at('seen')])).toMatchObject({ code: 0 })
    expect(await cliHere(['reset', 'sessions', '--local', at('seen')])).toMatchObject({ code: 0 })
    expect(await cliHere(['sync', '--local', at('seen')], real)).toMatchObject({ code: 0 })
    const other = await cliHere(['sync', '--local', at('seen')])
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('holds data of another platform')])
  })

  it('ends a command at once where the system makes no folder and says of none why', async () => {
    // A process of its own: one that never ends holds up this one.
    const child = cliIn(folder.path).start(['sync', '--local', '/proc/nope/x'])
    const timer = setTimeout(() => child.kill('SIGKILL'), 60_000)
    const { code, stderr } = await ended(child)
    clearTimeout(timer)
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^[^\n]*\/proc\/nope\/x[^\n]*(can't be used|may not write)[^\n]*\n$/),
    ])
  })

  it('is told from one whose state is gone', async () => {
    rmSync(join(at('seen'), 'dynamodb'), { recursive: true })
    const { code, stdout } = await cliHere(['status', '--local', at('seen')])
    expect([code, stdout]).toEqual([0, expect.stringContaining('the lake holds published runs')])
    expect(stdout).not.toContain('Nothing was synced')
  })
})

describe('a forgotten --local', () => {
  const missing = new FatalError('The environment is not complete.', { code: 'configuration' })
  const told = (args: string[], variables = {}) => toldError(missing, { args, variables, folder: at('forgotten') })

  it('is what is told first, where the folder is and nothing names a stack', async () => {
    mkdirSync(at('forgotten'))
    expect(await told(['status'])).toBe(missing)
    writeFileSync(join(at('forgotten'), 'owner.json'), '{}')
    expect(await told(['status'])).toMatchObject({
      code: 'configuration',
      message: expect.stringMatching(/^--local was not given, and .* holds what was synced[\s\S]*not complete/),
    })
    expect(await told(['status', '--local=./elsewhere'])).toBe(missing)
    expect(await told(['status'], { LAKE_BUCKET: 'lake' })).toBe(missing)
  })
})

describe('a folder in which another process works', () => {
  it('is there for all who only look at limits, or at the audit trail', async () => {
    const { close } = await startEmulators({ dir: at('worked-in') })
    writeFileSync(at('policy.yaml'), 'default: 5')
    const looks = [
      ['outcomes'],
      ['history', 'ana@example.com'],
      ['report', '--out', at('limits.html')],
      ['export'],
      ['policy', 'check', at('policy.yaml')],
      ['policy', 'plan', at('policy.yaml')],
    ]
    for (const args of looks) {
      const { stderr } = await cliHere(['limits', ...args, '--local', at('worked-in')])
      expect([args, stderr]).toEqual([args, expect.not.stringContaining('another platform-sync uses')])
    }
    expect(existsSync(at('limits.html'))).toBe(true)
    const trail = [['verify'], ['report', '--out', at('audit.html')], ['show', '1'], ['diff', '1', '2']]
    for (const args of trail) {
      const { stderr } = await cliHere(['audit', ...args, '--local', at('worked-in')])
      expect([args, stderr]).toEqual([args, expect.not.stringContaining('another platform-sync uses')])
    }
    expect(existsSync(at('audit.html'))).toBe(true)
    expect(existsSync(join(at('worked-in'), 'audit-signing-key.pem'))).toBe(false)
    const other = await cliHere(['limits', 'redrive', '--local', at('worked-in')])
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('another platform-sync uses')])
    await close()
  })
})

describe('a damaged folder', () => {
  it('is found by the doctor, who moves it aside when asked to, and leaves a sound one', async () => {
    const dir = at('damaged')
    const doctor = (...more: string[]) => cliHere(['doctor', '--local', dir, '--json', ...more])
    await (await startEmulators({ dir })).close()
    writeFileSync(join(dir, 'owner.json'), '{"platform":"none"}')
    const sound = await doctor('--set-aside')
    expect([sound.code, sound.stderr]).toEqual([0, expect.stringContaining('is not damaged, and stays')])
    writeFileSync(join(dir, 'sqs', 'fauxqs.db'), 'no database')
    const found = await doctor()
    expect([found.code, found.stdout]).toEqual([1, expect.stringContaining('--set-aside')])
    const failing = JSON.parse(found.stdout).checks.filter(({ state }: { state: string }) => state === 'fail')
    expect(failing).toMatchObject([{ what: 'sqs (queues)' }])
    expect((await doctor('--set-aside')).stdout).toContain(`${dir}.damaged-`)
    expect(existsSync(dir)).toBe(false)
  })
})

describe('a demo that is interrupted', () => {
  it('stops after the run that was under way: exit 130', async () => {
    const { code, stdout, stderr } = await cliHere(['demo', '--local', at('demo'), '--json'], {}, AbortSignal.abort())
    expect([code, JSON.parse(stdout)]).toMatchObject([130, { runs: [{ interrupted: true }], queries: [] }])
    expect(stderr).not.toContain('pivot')
  })
})
