import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Collector, startCollector, token } from '../hooks/machine/collector.ts'
import { cliHere, soon, temporaryFolder } from './cli.ts'

const names = ['Notification', 'Stop', 'SubagentStop', 'SessionEnd']
let folder: ReturnType<typeof temporaryFolder>
let collector: Collector
let settings: string
let home: string

beforeEach(async () => {
  folder = temporaryFolder()
  collector = await startCollector()
  settings = join(folder.path, 'settings.json')
  home = join(folder.path, "it's my home", 'hooks')
  writeFileSync(join(folder.path, 'token'), `${token}\n`)
})
afterEach(async () => {
  await collector.close()
  folder.remove()
})

function hooks(...args: string[]) {
  return cliHere(['hooks', ...args], { HOOKS_FOLDER: home })
}
function install(...args: string[]) {
  const where = ['--settings', settings, '--address', collector.address, '--token-file', join(folder.path, 'token')]
  return hooks('install', ...where, ...args)
}
function content() {
  return readFileSync(settings, 'utf8')
}
async function json(...args: string[]) {
  return JSON.parse((await hooks(...args, '--json')).stdout)
}

describe('hooks install', () => {
  it('puts a command into the settings that delivers events when the agent runs it', async () => {
    writeFileSync(settings, '{\n  "theme": "dark"\n}\n', { mode: 0o640 })
    expect((await install()).code).toBe(0)
    const { theme, hooks: installed } = JSON.parse(content())
    expect([theme, Object.keys(installed)]).toEqual(['dark', names])
    expect(statSync(settings).mode & 0o777).toBe(0o640)
    const { command, timeout, type } = installed.Stop[0].hooks[0]
    expect([type, timeout]).toEqual(['command', 10])
    execFileSync('/bin/sh', ['-c', command], { input: '{"hook_event_name":"Stop","session_id":"s"}' })
    expect(await soon(() => collector.accepted.length === 1)).toBe(true)
    await soon(() => !existsSync(join(home, 'deliver.lock')))
    expect(await json('status')).toMatchObject({
      installations: [{ settings, events: names, inPlace: names }],
      delivered: 1,
      waiting: 0,
      lost: 0,
      lastError: null,
      lastDeliveryAt: expect.any(String),
    })
  })

  it('changes nothing the second time, and makes no second backup', async () => {
    writeFileSync(settings, '{"a":1}')
    await install()
    const after = content()
    const { stdout } = await install()
    expect(stdout).toContain('already runs')
    expect([content(), readdirSync(join(home, 'backups')).length]).toEqual([after, 1])
  })

  it('follows other events, another timeout and another address', async () => {
    writeFileSync(settings, '{"a":1}')
    await install()
    await hooks('install', '--events', 'Stop', '--timeout', '5', '--address', 'https://collector.example.com/base')
    const { hooks: installed } = JSON.parse(content())
    expect([Object.keys(installed), installed.Stop[0].hooks[0].timeout]).toEqual([['Stop'], 5])
    expect(await json('status')).toMatchObject({ address: 'https://collector.example.com/base' })
    await hooks('uninstall')
    expect(content()).toBe('{"a":1}')
  })

  it('takes the address as the collector prints it', async () => {
    await install('--address', 'https://collector.example.com/v1/hook-events')
    expect(await json('status')).toMatchObject({ address: 'https://collector.example.com' })
  })

  it('keeps the token in its own configuration alone, for its owner', async () => {
    writeFileSync(settings, '{}')
    const { stdout, stderr } = await install('--verbose')
    const holding = [settings, ...readdirSync(home).map((name) => join(home, name))].filter(
      (file) => statSync(file).isFile() && readFileSync(file, 'utf8').includes(token),
    )
    expect(holding).toEqual([join(home, 'config.json')])
    expect([statSync(join(home, 'config.json')).mode & 0o777, statSync(home).mode & 0o777]).toEqual([0o600, 0o700])
    expect(stdout + stderr + (await hooks('status')).stdout).not.toContain(token)
  })

  it('shows with --dry-run what would change, and changes nothing', async () => {
    writeFileSync(settings, '{\n  "a": 1,\n  "b": 2\n}\n')
    const { stdout } = await install('--dry-run', '--events', 'Stop')
    const lines = stdout.split('\n').slice(2)
    expect(lines.slice(0, 3)).toEqual(['-  "b": 2', '+  "b": 2,', '+  "hooks": {'])
    expect(lines.join('\n')).not.toContain('"a"')
    expect([content(), existsSync(home)]).toEqual(['{\n  "a": 1,\n  "b": 2\n}\n', false])
  })

  it('leaves a link a link', async () => {
    const real = join(folder.path, 'real.json')
    writeFileSync(real, '{}')
    symlinkSync(real, settings)
    await install()
    expect(readlinkSync(settings)).toBe(real)
    expect(JSON.parse(readFileSync(real, 'utf8')).hooks.Stop).toHaveLength(1)
  })

  it.each(['{"a":', '{"hooks":[]}', '', '[]'])('refuses %j untouched, with a sentence', async (text) => {
    writeFileSync(settings, text)
    const { code, stderr } = await install()
    expect([code, content(), existsSync(home)]).toEqual([2, text, false])
    expect(stderr).toMatch(
      /settings\.json: The settings file is left as it is, since .*\. Correct it and try again\.\n$/,
    )
  })

  it('refuses bytes that are no UTF-8', async () => {
    const bytes = Buffer.from('\ufeff{}', 'utf16le')
    writeFileSync(settings, bytes)
    expect(await install()).toMatchObject({ code: 2, stderr: expect.stringContaining('no text in UTF-8') })
    expect(readFileSync(settings)).toEqual(bytes)
  })

  it.each([
    [['--events', 'Stop,Stopp'], /The events are Notification, Stop/],
    [['--address', 'http://collector.example.com'], /must be https/],
    [['--address', 'https://u:p@collector.example.com'], /must be https/],
    [['--address', 'nowhere'], /must be https/],
    [['--token-file', 'missing'], /missing can't be read/],
    [['--settings', '/no/such/folder/settings.json'], /folder .* does not exist/],
  ])('refuses %s with exit 2', async (args, message) => {
    writeFileSync(settings, '{}')
    const { code, stderr } = await install(...args)
    expect([code, content()]).toEqual([2, '{}'])
    expect(stderr).toMatch(message)
  })

  it('asks for what it can not know', async () => {
    expect((await hooks('install')).stderr).toContain('--settings <file> or HOOKS_SETTINGS')
    expect((await hooks('install', '--settings', settings)).stderr).toContain('--address <url> or HOOKS_ADDRESS')
    const { stderr } = await hooks('install', '--settings', settings, '--address', 'https://c.example.com')
    expect(stderr).toContain('--token-file <file>')
  })
})

describe('hooks uninstall', () => {
  it('gives back the file byte for byte, whatever JSON it was', async () => {
    const hookLists = fc.dictionary(fc.constantFrom(...names), fc.constantFrom([], [{ hooks: [] }], [{ hooks: [{}] }]))
    const objects = fc.tuple(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 })), fc.option(hookLists))
    const texts = fc
      .tuple(objects, fc.constantFrom(undefined, 0, 1, '\t', '   '), fc.constantFrom('', '\n', ' \r\n '), fc.boolean())
      .map(([[more, lists], indent, end, mark]) => {
        const text = JSON.stringify({ ...more, hooks: lists ?? undefined }, null, indent)
        const spaced = text.replaceAll(/("(?:[^"\\]|\\.)*")|\{\}/g, (_, string?: string) => string ?? '{ \n }')
        return `${mark ? '\ufeff' : ''}${spaced}${end}`
      })
    await fc.assert(
      fc.asyncProperty(texts, fc.shuffledSubarray(names, { minLength: 1 }), async (text, events) => {
        writeFileSync(settings, text)
        expect(await install('--events', events.join(','))).toMatchObject({ code: 0 })
        expect(content()).not.toBe(text)
        expect(await hooks('uninstall')).toMatchObject({ code: 0 })
        expect(content()).toBe(text)
      }),
      { numRuns: 15 },
    )
    expect(existsSync(home)).toBe(false)
  })

  it('removes a file that was not there before', async () => {
    await install()
    expect(existsSync(settings)).toBe(true)
    await hooks('uninstall')
    expect([existsSync(settings), existsSync(home)]).toEqual([false, false])
  })

  it('keeps what somebody else changed meanwhile', async () => {
    writeFileSync(settings, '{\n  "a": 1\n}\n')
    await install()
    writeFileSync(settings, content().replace('"a": 1', '"a": 2'))
    await hooks('uninstall')
    expect(content()).toBe('{\n  "a": 2\n}\n')
  })

  it('shows with --dry-run what it would take out', async () => {
    writeFileSync(settings, '{"a":1}')
    await install()
    const after = content()
    const { stdout } = await hooks('uninstall', '--dry-run')
    expect(stdout).toContain(`-${after}`)
    expect([content(), existsSync(home)]).toEqual([after, true])
  })

  it('keeps events that are not delivered, unless they are to be discarded', async () => {
    writeFileSync(settings, '{}')
    await install()
    mkdirSync(join(home, 'spool'))
    writeFileSync(join(home, 'spool', `1700000000000_${crypto.randomUUID()}_2.json`), '{}')
    expect((await hooks('uninstall')).stdout).toContain('1 event is not delivered')
    expect([content(), existsSync(home)]).toEqual(['{}', true])
    await hooks('uninstall', '--settings', settings, '--discard')
    expect(existsSync(home)).toBe(false)
  })

  it('says when nothing is installed', async () => {
    expect(await hooks('uninstall')).toMatchObject({ code: 2, stderr: expect.stringContaining('no installation') })
    expect((await hooks('status')).stdout).toContain('Nothing is installed on this machine.')
  })
})

describe('hooks flush', () => {
  it('says what is in the way, and ends with 1 while all events wait', async () => {
    writeFileSync(settings, '{}')
    await install()
    collector.answer = () => ({ status: 401 })
    const { command } = JSON.parse(content()).hooks.Stop[0].hooks[0]
    execFileSync('/bin/sh', ['-c', command], { input: '{"hook_event_name":"Stop"}' })
    const { code, stdout } = await hooks('flush')
    expect(code).toBe(1)
    expect(stdout).toMatch(/0 delivered, 0 refused for good, 1 still waiting\.\n.*401: the token is not valid/)
    expect((await hooks('status')).stdout).toMatch(/Waiting: 1 .*\n(.*\n)+Last error: .*401/)
    collector.answer = () => undefined
    expect((await hooks('flush')).code).toBe(0)
    expect(collector.accepted).toHaveLength(1)
  })

  it('needs an installation', async () => {
    expect(await hooks('flush')).toMatchObject({ code: 2, stderr: expect.stringContaining('hooks install') })
  })
})
