import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cliHere, cliIn, temporaryFolder } from './cli.ts'

const folder = temporaryFolder()
const run = cliHere
function at(name: string) {
  return `--local=${join(folder.path, name)}`
}
afterAll(folder.remove)

const stack = /^ {4}at /m

describe('bad input', () => {
  it('names each variable that is missing or malformed and how to set it, in one message: exit 2', async () => {
    const { code, stdout, stderr } = await cliIn(folder.path).run(['sync'], {
      PLATFORM_APP_URL: 'app.example.com',
      AWS_REGION: '',
    })
    expect([code, stdout]).toEqual([2, ''])
    for (const name of [
      'PLATFORM_APP_URL is not an http(s) address',
      'PLATFORM_BASE_URL',
      'PLATFORM_API_KEY or PLATFORM_SECRET_ID',
    ]) {
      expect(stderr).toContain(name)
    }
    for (const name of ['REDACTION_KEY', 'STATE_TABLE', 'RECORDS_TABLE', 'LAKE_BUCKET', 'AWS_REGION']) {
      expect(stderr).toMatch(new RegExp(`${name}.* is missing; set `))
    }
    expect(stderr).not.toMatch(stack)
  })

  it('does not ask for the platform where nothing is asked of it', async () => {
    const { code, stderr } = await run(['status'], { AWS_REGION: 'eu-central-1', STATE_TABLE: 'a', RECORDS_TABLE: 'b' })
    expect(code).toBe(2)
    expect(stderr).toContain('LAKE_BUCKET')
    expect(stderr).not.toContain('PLATFORM_')
  })

  it.each([[['sync', 'sesions', '--local']], [['reset', 'sesions', '--local']], [['approve', 'sesions']]])(
    'lists the streams there are when a name is unknown: %s',
    async (args) => {
      const { code, stderr } = await run(args)
      expect(code).toBe(2)
      expect(stderr).toContain('There is no stream "sesions". The streams are: readiness_reports, sessions,')
      expect(stderr).not.toMatch(stack)
    },
  )

  it('takes what stands after --local for its folder only when it looks like a path', async () => {
    const { code, stderr } = await run(['sync', '--local', 'nope'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('no stream "nope"')])
  })

  it.each([
    [['sink']],
    [['sync', '--nope']],
    [['reset']],
    [['query', 'select 1', '--local', '--format', 'xml']],
    [['simulator', '--port', 'x']],
    [['sync', '--local=']],
  ])('answers wrong usage with exit 2: %s', async (args) => {
    const { code, stderr } = await run(args)
    expect(code).toBe(2)
    expect(stderr).toContain('error: ')
    expect(stderr).not.toMatch(stack)
  })

  it('says what is wrong with a fault', async () => {
    const { code, stderr } = await run(['simulator', '--fault', '{"kind":"status","endpoint":"listUsers"}'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('status: ')])
  })

  it('says that a folder is damaged, and what finds out what is', async () => {
    mkdirSync(join(folder.path, 'damaged'))
    writeFileSync(join(folder.path, 'damaged', 'owner.json'), '{"platform":"none"}')
    writeFileSync(join(folder.path, 'damaged', 'dynamodb'), 'not a database')
    const { code, stderr } = await run(['status', at('damaged')])
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /damaged can't be opened.*doctor --local .*damaged" says what of it is damaged.*--set-aside/s,
    )
    expect(stderr).not.toMatch(stack)
  })

  it('says what is wrong with a platform.json that someone edited', async () => {
    mkdirSync(join(folder.path, 'edited'))
    writeFileSync(join(folder.path, 'edited', 'platform.json'), '{"days":-1}')
    const { code, stderr } = await run(['sync', at('edited')])
    expect([code, stderr]).toEqual([1, expect.stringMatching(/platform\.json can't be read: .*days/)])
  })

  it("gives DuckDB's message for wrong SQL, without a stack, and as JSON when asked: exit 2", async () => {
    const { code, stdout, stderr } = await run(['query', at('fresh'), 'selec 1', '--json'])
    expect(code).toBe(2)
    expect(JSON.parse(stdout).error).toEqual({
      code: 'usage',
      message: expect.stringContaining('syntax error at or near "selec"'),
    })
    expect(stderr).toContain('syntax error at or near "selec"')
    expect(stderr).not.toMatch(stack)
  })

  it('has no two formats at once', async () => {
    const { code, stderr } = await run(['query', at('fresh'), 'select 1', '--json', '--format', 'csv'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('leave one out')])
  })

  it.each([
    ['sync', /file can't be used as a folder/],
    ['status', /file is no folder/],
    ['demo', /file can't be used as a folder/],
  ])('takes no file for a folder: %s', async (command, said) => {
    writeFileSync(join(folder.path, 'file'), '')
    const { code, stderr } = await run([command, at('file')])
    expect([code, stderr]).toEqual([2, expect.stringMatching(said)])
    expect(stderr).not.toMatch(stack)
  })

  it('says which version it is', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(await run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('shows help on request, and after a mistake how to get it', async () => {
    const help = await run(['--help'])
    expect([help.code, help.stderr]).toEqual([0, ''])
    for (const name of ['demo', 'simulator', 'sync', 'status', 'reset', 'approve', 'query', 'doctor']) {
      expect(help.stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'))
    }
    expect(help.stdout).not.toMatch(/^ {2}docs/m)
  })
})
