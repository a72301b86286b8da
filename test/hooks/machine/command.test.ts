import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bundleCommand } from '../../../lib/hooks/machine/bundle.ts'
import { ended, soon } from '../../cli/cli.ts'
import { startCollector, token } from './collector.ts'
import { createMachine, type Machine } from './machine.ts'

let command: string
let machine: Machine

beforeAll(async () => {
  command = await bundleCommand()
})
beforeEach(async () => {
  machine = await createMachine(command)
})
afterEach(async () => {
  await machine.idle()
  await machine.close()
})

const nothing = { code: 0, stdout: '', stderr: '' }

async function hook(input?: string | object): Promise<void> {
  expect(await machine.hook(input)).toEqual(nothing)
}
/** The collector has asked for silence, until so many ms from now. */
function silentFor(ms: number) {
  writeFileSync(machine.place.state, JSON.stringify({ notBefore: new Date(Date.now() + ms).toISOString() }))
}
function accepted() {
  return machine.collector.accepted
}

describe('the hook command', () => {
  it('is one small file for Node 18: no dependency, nothing that came later', () => {
    expect(Buffer.byteLength(command)).toBeLessThan(50 * 1024)
    const required = [...command.matchAll(/\b(?:require|import)\("([^"]+)"\)/g)].map(([, name = '']) => name)
    expect(required).toContain('node:fs')
    expect(required.filter((name) => !name.startsWith('node:'))).toEqual([])
    // Who the agent waits for loads no HTTP: that comes when it is imported.
    expect(command).not.toMatch(/\brequire\("node:https?"\)/)
    expect(required).toContain('node:https')
    expect(command).toMatch(/^#!\/usr\/bin\/env node\n/)
    expect(command).not.toMatch(
      /\.(toSorted|toReversed|toSpliced|with|toWellFormed|isWellFormed|withResolvers|groupBy|union|fromAsync)\(/,
    )
  })

  it('delivers what the agent said, with id, time, host and version', async () => {
    machine.configure({ agentVersion: '9.9' })
    const input = {
      hook_event_name: 'SessionEnd',
      session_id: 's-1',
      cwd: '/home/me',
      reason: 'strange',
      more: { a: [1] },
    }
    await hook(input)
    await machine.arrived(1)
    expect(accepted()).toEqual([
      { id: expect.any(String), occurredAt: expect.any(String), host: expect.any(String), agentVersion: '9.9', input },
    ])
    expect(readdirSync(machine.place.spool)).toEqual([])
  })

  it('lets the agent be in a folder that a later version installed, keeps the event and sends nothing', async () => {
    writeFileSync(machine.place.config, JSON.stringify({ version: 2, collectors: [machine.collector.address] }))
    await hook()
    expect(machine.log()).toMatch(/folder .* later version .*form 2; form 1 is known here/)
    expect(machine.waiting()).toHaveLength(1)
    expect(machine.counts()).toEqual({ lost: 0, unreadable: 0 })
    expect(accepted()).toEqual([])
    const { code, stdout } = await machine.flush()
    expect([code, stdout]).toEqual([2, expect.stringContaining('Deploy that version again')])
  })

  it('does not wait for a server that says nothing', async () => {
    machine.collector.answer = () => null
    machine.configure({ timeoutSeconds: 10 })
    const began = performance.now()
    await hook()
    const ms = performance.now() - began
    const bareBegan = performance.now()
    await ended(spawn(process.execPath, ['-e', '0']))
    const bareMs = performance.now() - bareBegan
    process.stdout.write(`hook: ${ms.toFixed(0)} ms start to end; node alone: ${bareMs.toFixed(0)} ms\n`)
    // Less than the server takes: the machine of the tests may be busy.
    expect(ms).toBeLessThan(9_000)
    expect(await soon(() => machine.collector.bodies.length === 1)).toBe(true)
    expect(machine.waiting()).toHaveLength(1)
  })

  it('keeps events while nobody answers, and the next event takes them along', async () => {
    await machine.collector.close()
    await hook()
    await soon(() => existsSync(machine.place.state))
    await hook()
    await machine.idle()
    expect(machine.waiting()).toHaveLength(2)
    machine.collector = await startCollector(machine.collector.port)
    await hook()
    await machine.arrived(3)
    expect(accepted().map(({ id }) => id)).toHaveLength(3)
  })

  it('sends what came while the clock was ahead, whatever silence was asked for then', async () => {
    silentFor(365 * 24 * 3_600_000)
    await hook()
    await machine.arrived(1)
    expect(accepted()).toHaveLength(1)
  })

  it('sends nothing while the collector wants silence, and flush does', async () => {
    silentFor(10 * 60_000)
    await hook()
    expect([machine.collector.bodies, machine.waiting().length]).toEqual([[], 1])
    expect(JSON.parse((await machine.flush()).stdout)).toEqual({ delivered: 1, refused: 0, problem: null, waiting: 0 })
  })

  it('keeps apart what happens at once', async () => {
    await Promise.all(Array.from({ length: 6 }, (_, at) => hook({ hook_event_name: 'Stop', at })))
    await machine.arrived(6)
    expect(
      accepted()
        .map(({ input }) => input.at)
        .sort(),
    ).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('hands an event on where the disk takes nothing', async () => {
    writeFileSync(machine.place.spool, 'a file where the folder should be')
    await hook({ hook_event_name: 'Notification', message: 'm'.repeat(60_000) })
    expect(await soon(() => accepted().length === 1)).toBe(true)
    await machine.idle()
    unlinkSync(machine.place.spool)
    expect(machine.counts()).toEqual({ lost: 0, unreadable: 0 })
  })

  it('counts an event that the disk does not take and nobody else either', async () => {
    writeFileSync(machine.place.spool, 'a file where the folder should be')
    machine.configure({ address: 'http://127.0.0.1:9' })
    await hook()
    expect(await soon(() => machine.counts().lost === 1)).toBe(true)
    rmSync(machine.place.spool)
  })

  it('hands on what does not fit into a full spool, and counts it while nobody answers', async () => {
    mkdirSync(machine.place.spool)
    const big = `1700000000000_${crypto.randomUUID()}_${20 * 1024 * 1024}.json`
    writeFileSync(join(machine.place.spool, big), '')
    machine.configure({ address: 'http://127.0.0.1:9' })
    await hook()
    expect(await soon(() => machine.counts().lost === 1)).toBe(true)
    writeFileSync(join(machine.place.spool, big), '')
    machine.configure()
    await hook()
    expect(await soon(() => accepted().length === 1)).toBe(true)
    expect(machine.counts().lost).toBe(1)
  })

  it.each([
    ['nothing', ''],
    ['no JSON', '{"hook_event_name":"Stop","message":"secret words'],
    ['more than it can hold', `{"hook_event_name":"${'x'.repeat(2_000_000)}"}`],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00]).toString('latin1')],
  ])('counts an input of %s, and quotes nothing of it', async (_, input) => {
    await hook(input)
    expect([machine.counts().unreadable, machine.collector.bodies]).toEqual([1, []])
    expect(machine.log()).not.toContain('secret')
  })

  it('keeps the known fields of an input that is too large', async () => {
    await hook({ hook_event_name: 'Notification', message: 'm'.repeat(200_000) })
    await machine.arrived(1)
    expect(accepted()[0]?.input).toMatchObject({ hook_event_name: 'Notification', cut_from_bytes: 200_047 })
  })

  it('does not wait for an agent that leaves standard input open', async () => {
    const child = machine.start(null)
    child.stdin.write('{"hook_event_name":"Stop"}')
    expect(await ended(child)).toEqual(nothing)
    await machine.arrived(1)
  })

  it('keeps events without a configuration, for the time when there is one', async () => {
    rmSync(machine.place.config)
    await hook()
    expect(machine.waiting()).toHaveLength(1)
    machine.configure()
    await machine.flush()
    expect(accepted()).toHaveLength(1)
  })

  it('writes the token nowhere', async () => {
    machine.collector.answer = () => ({ status: 401, body: token })
    await hook()
    await soon(() => existsSync(machine.place.state))
    await machine.idle()
    const files = readdirSync(machine.place.folder, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    )
    const holding = files.filter((each) => readFileSync(join(each.parentPath, each.name), 'utf8').includes(token))
    expect(holding.map(({ name }) => name)).toEqual(['config.json'])
  })
})
