import { rmSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { runSync } from '../../lib/cli/run-sync.ts'
import { composeRun } from '../../lib/compose/run.ts'
import { type Log, type LogFields, silentLog } from '../../lib/core/log.ts'
import { noMetrics } from '../../lib/core/metrics.ts'
import { type Emulators, startEmulators } from '../../lib/local/emulators/emulators.ts'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import type { Checkpoint } from '../../lib/sync/checkpoint.ts'
import { wholeScanAt } from '../../lib/sync/freshness.ts'
import type { Source } from '../../lib/sync/ports.ts'
import { cliHere, temporaryFolder } from './cli.ts'

const folder = temporaryFolder()
let emulators: Emulators
let simulator: Simulator
let variables: Record<string, string>

async function run(...args: string[]) {
  const { code, stdout, stderr } = await cliHere([...args, '--json'], variables)
  return { code, document: JSON.parse(stdout), output: stdout + stderr }
}

beforeAll(async () => {
  simulator = await startSimulator({ counts: { reports: 5, sessions: 20, users: 8, revisions: 40, computers: 3 } })
  emulators = await startEmulators({ dir: folder.path })
  variables = {
    ...emulators.environment,
    PLATFORM_APP_URL: simulator.appUrl,
    PLATFORM_BASE_URL: simulator.baseUrl,
    PLATFORM_API_KEY: 'sim-key',
    REDACTION_KEY: 'k'.repeat(32),
  }
})
// What the SDK reads by itself it finds where a process has it.
beforeEach(() => {
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, variables[name])
})
afterAll(async () => {
  await emulators.close()
  await simulator.close()
  folder.remove()
})

describe('without --local', () => {
  it('works with the tables and buckets that the environment names', async () => {
    expect(await run('sync')).toMatchObject({ code: 0, document: { status: 'complete' } })
    const { document } = await run('status')
    expect(document.streams.map(({ records }: { records: number }) => records)).toEqual([5, 20, 8, 40, 3, null, 0, 0])
    const doctor = await run('doctor')
    expect(doctor).toMatchObject({ code: 0, document: { ok: true } })
    const messages = doctor.document.checks.find(({ what }: { what: string }) => what === 'session_messages')
    expect(messages.detail).toMatch(
      /are not read .* a first read of the \d+ messages of 20 sessions is 20 requests: 2 s/,
    )
  })

  it('says who works on a stream', async () => {
    const { checkpoints, close } = composeRun(variables, { log: silentLog, metrics: noMetrics })
    const now = Date.now()
    await checkpoints.acquire('computers', { owner: 'another worker', now, expiresAt: now + 60_000 })
    const { document } = await run('status')
    const computers = document.streams.find(({ stream }: { stream: string }) => stream === 'computers')
    expect(computers).toMatchObject({ status: 'running', leaseHolder: 'another worker' })
    const sync = await run('sync', 'computers', 'sessions')
    expect(sync.code).toBe(3)
    expect(sync.document.streams[0]).toMatchObject({
      status: 'running',
      reason: expect.stringContaining('another worker'),
    })
    expect(sync.document.streams[1]).toMatchObject({ status: 'complete' })
    const reset = await run('reset', 'computers')
    expect([reset.code, reset.document.error.message]).toEqual([
      2,
      expect.stringContaining('a worker is reading it now'),
    ])
    close()
  })

  it('counts repeats, so that what was received adds up', async () => {
    const fault = simulator.fault({ kind: 'mutateRecord', endpoint: 'listUsers', change: { do: 'duplicate' }, page: 1 })
    const { stdout } = await cliHere(['sync', 'organization_users'], variables)
    fault.remove()
    expect(stdout).toContain('organization_users: 1 record was a repeat')
  })

  it('measures the lag from the last complete scan, not from a suspect one or an approval', async () => {
    const { checkpoints, close } = composeRun(variables, { log: silentLog, metrics: noMetrics })
    const sessions = async () => (await checkpoints.read('sessions')) as Checkpoint
    const before = (await sessions()).lastScan?.startedAt
    const fault = simulator.fault({ kind: 'emptyList', endpoint: 'listSessions' })
    await run('sync', 'sessions')
    expect((await sessions()).lastScan).toMatchObject({ status: 'suspect' })
    expect(wholeScanAt(await sessions())).toBe(before)
    await run('approve', 'sessions')
    expect((await sessions()).lastScan).toMatchObject({ status: 'complete' })
    expect(wholeScanAt(await sessions())).toBe(before)
    fault.remove()
    await run('sync', 'sessions')
    expect(wholeScanAt(await sessions())).toBeGreaterThan(before ?? 0)
    close()
  })

  it('is checked without showing who logs in at an address', async () => {
    const address = simulator.baseUrl.replace('//', '//ana:hunter2@')
    const { stdout } = await cliHere(['doctor'], { ...variables, AWS_ENDPOINT_URL: address })
    expect(stdout).toContain('http://***@127.0.0.1')
    expect(stdout).not.toContain('hunter2')
  })

  it('says of each variable that --local sets that it does', async () => {
    const { code, stdout } = await cliHere(['doctor', '--local', `${folder.path}-fresh`], { PLATFORM_API_KEY: 'key' })
    rmSync(`${folder.path}-fresh`, { recursive: true, force: true })
    expect(code).toBe(2)
    expect(stdout).toMatch(/LAKE_BUCKET +set by --local/)
    expect(stdout).toMatch(/PLATFORM_APP_URL +not set/)
  })

  it('shows a fingerprint where a setting was secret', async () => {
    const { output } = await run('query', 'select settings from enterprise_control_revisions')
    expect(output).toMatch(/redacted:hmac-sha256:[0-9a-f]{16}/)
    expect(output).not.toMatch(/(sk|pw|header|arg|refresh|export)-secret-\d/)
  })

  it('names the table that is not there, and what to do', async () => {
    const { code, stderr } = await cliHere(['status'], { ...variables, STATE_TABLE: 'not-there' })
    expect([code, stderr]).toEqual([2, expect.stringMatching(/not-there.*Deploy the stateful stack/)])
  })

  it('gives one JSON document for wrong usage, too', async () => {
    expect(await run('sync', '--nope')).toMatchObject({ code: 2, document: { error: { code: 'usage' } } })
  })
})

describe('a bug (HTTP-09)', () => {
  it('fails its stream and surfaces with its stack', async () => {
    const told: { message: string; fields?: LogFields | undefined }[] = []
    const log: Log = { ...silentLog, error: (message, fields) => void told.push({ message, fields }) }
    const app = composeRun(variables, { log, metrics: noMetrics })
    const source: Source = {
      fetchPage: async () => {
        throw new TypeError('this.nope is not a function')
      },
    }
    const broken = {
      ...app,
      syncDeps: async (deadline: Parameters<typeof app.syncDeps>[0]) => ({ ...(await app.syncDeps(deadline)), source }),
    }
    const progress = { begin() {}, add() {}, end() {}, line() {}, stop() {} }
    const { record } = await runSync([organizationUsers], {
      root: broken,
      progress,
      interrupted: new AbortController().signal,
    })
    app.close()
    expect(record.streams).toMatchObject([{ stream: 'organization_users', status: 'failed' }])
    expect(told.map(({ message }) => message).join('\n')).toMatch(
      /organization_users: a bug\. TypeError: this\.nope(.|\n)*environment\.test\.ts:\d+/,
    )
  })
})
