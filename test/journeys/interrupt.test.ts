import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { cliHere, cliIn, ended, soon, temporaryFolder } from '../cli/cli.ts'

const folder = temporaryFolder()
let simulator: Simulator

beforeAll(async () => {
  simulator = await startSimulator({ counts: { reports: 5, sessions: 2_000, users: 20, revisions: 3, computers: 2 } })
})
afterAll(async () => {
  await simulator.close()
  folder.remove()
})

function environment() {
  return {
    PLATFORM_APP_URL: simulator.appUrl,
    PLATFORM_BASE_URL: simulator.baseUrl,
    PLATFORM_API_KEY: 'sim-key',
  }
}

/** A command in this process, once the other one has ended. */
async function afterwards(command: string, name: string) {
  const { code, stdout } = await cliHere([command, `--local=${join(folder.path, name)}`, '--json'], environment())
  return { code, document: JSON.parse(stdout) }
}

describe('Ctrl-C', () => {
  it('keeps what was read, even while a stream waits for the platform, and the next sync goes on there', async () => {
    const { start } = cliIn(folder.path, environment())
    // Users are answered after the first sessions and before the last ones: their wait is the first one, and holds for both.
    simulator.fault({ kind: 'latency', endpoint: 'listSessions', ms: 200 })
    simulator.fault({ kind: 'latency', endpoint: 'listUsers', ms: 2_000 })
    simulator.fault({ kind: 'status', endpoint: 'listUsers', status: 429, headers: { 'retry-after': '20' } })
    const child = start(['sync', '--local', './data', '--json'])
    const result = ended(child)
    let said = ''
    child.stderr?.on('data', (text) => {
      said += text
    })
    // Soon the wait holds for all streams, since they share the key.
    await soon(() => (simulator.counts.listSessions ?? 0) >= 2 && said.includes('tries again at'))
    const began = Date.now()
    child.kill('SIGINT')
    const { code, stdout, stderr } = await result
    expect([code, stderr]).toEqual([130, expect.stringContaining('Stopping: what was read is kept')])
    // Before that wait was over.
    expect(Date.now() - began).toBeLessThan(20_000)
    const { streams } = JSON.parse(stdout)
    // It kept nothing, but it asked.
    const users = { stream: 'organization_users', status: 'paused', apiCalls: simulator.counts.listUsers }
    expect(streams[2]).toMatchObject(users)
    const sessions = streams.find(({ stream }: { stream: string }) => stream === 'sessions')
    // It reads, waits with the users, or hears just then that it has to.
    expect(['paused', 'rate_limited']).toContain(sessions.status)
    const read = sessions.counts.received
    expect(read).toBeGreaterThan(0)
    expect(read).toBeLessThan(2_000)
    const { document } = await afterwards('status', 'data')
    expect(document.streams[1]).toMatchObject({ stream: 'sessions', scanInProgress: { received: read } })

    simulator.clearFaults()
    const before = simulator.counts.listSessions ?? 0
    const next = await afterwards('sync', 'data')
    expect([next.code, next.document.status]).toEqual([0, 'complete'])
    expect(next.document.streams[1].counts).toMatchObject({ received: 2_000, inserted: 2_000, duplicate: 0 })
    const asked = 20 - read / 100
    expect((simulator.counts.listSessions ?? 0) - before).toBe(asked)
    // What this run did, apart from what it went on with.
    expect(next.document.streams[1]).toMatchObject({
      apiCalls: asked,
      ofRun: { received: 2_000 - read, inserted: 2_000 - read, apiCalls: asked },
    })
  })
})

describe.each(['SIGTERM', 'SIGHUP'] as const)('%s', (signal) => {
  it('is answered as Ctrl-C is', async () => {
    const child = cliIn(folder.path).start(['simulator'])
    const result = ended(child)
    let said = ''
    child.stdout?.on('data', (text) => {
      said += text
    })
    await soon(() => said.includes('http://'))
    child.kill(signal)
    const { code, stderr } = await result
    expect([code, stderr]).toEqual([0, expect.stringContaining('Stopping')])
  })
})

describe('kill -9', () => {
  it('leaves streams that are paused, not running, and the next sync completes them', async () => {
    const { start } = cliIn(folder.path, environment())
    simulator.fault({ kind: 'latency', endpoint: 'listSessions', ms: 100 })
    const before = simulator.counts.listSessions ?? 0
    const child = start(['sync', '--local', './killed'])
    const result = ended(child)
    await soon(() => (simulator.counts.listSessions ?? 0) >= before + 3)
    child.kill('SIGKILL')
    await result
    simulator.clearFaults()
    const { document } = await afterwards('status', 'killed')
    expect(document.streams[1]).toMatchObject({ stream: 'sessions', status: 'paused', leaseHolder: null })
    const next = await afterwards('sync', 'killed')
    expect([next.code, next.document.streams[1].counts.inserted]).toEqual([0, 2_000])
  })
})
