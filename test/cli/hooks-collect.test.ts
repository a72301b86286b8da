import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { Command } from 'commander'
import { afterAll, describe, expect, it } from 'vitest'
import { addHooksCollect } from '../../lib/cli/hooks-collect.ts'
import { systemClock } from '../../lib/core/clock.ts'
import { hookLimits } from '../../lib/hooks/hook-event.ts'
import { event } from '../hooks/collector/fixture.ts'
import { cliHere, soon, temporaryFolder } from './cli.ts'

const folder = temporaryFolder()
afterAll(folder.remove)
const local = `--local=${join(folder.path, 'data')}`

/** The command, running: where it collects, and how to end it. */
async function startCollect(args: readonly string[], variables: Record<string, string> = {}) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const stop = new AbortController()
  let code: number | null = null
  const exit = (ended: number) => {
    code = ended
  }
  const program = new Command('platform-sync').exitOverride()
  const process = { stdout, stderr, exit, fetch, clock: systemClock, interrupted: stop.signal }
  const cli = { variables, useProxies() {}, ...process }
  addHooksCollect(program.command('hooks'), cli)
  let printed = ''
  stdout.on('data', (text) => {
    printed += text
  })
  const running = program.parseAsync(['hooks', 'collect', ...args, '--json'], { from: 'user' })
  await Promise.race([soon(() => printed.endsWith('}\n')), running])
  const { url, tokenFile } = JSON.parse(printed) as { url: string; tokenFile: string | null }
  return {
    url,
    tokenFile,
    token: tokenFile ? readFileSync(tokenFile, 'utf8') : variables.HOOKS_TOKENS,
    end: async () => {
      stop.abort()
      await running
      return code
    },
  }
}

async function post(url: string, token: string | undefined, body: string) {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(url, { method: 'POST', headers, body })
  return { status: response.status, document: await response.json() }
}

/** Answers of the lake in the folder. */
async function ask(sql: string) {
  return JSON.parse((await cliHere(['query', local, '--format', 'json', sql])).stdout)
}

function minutes(n: number): string {
  return new Date(Date.UTC(2026, 4, 6, 12) + n * 60_000).toISOString()
}

/** Two sessions: one waits for five minutes and ends with an error, one ends as it should. */
const story = [
  event({ hook_event_name: 'Notification', message: 'May I run rm?' }, { occurredAt: minutes(0) }),
  event({ hook_event_name: 'Stop' }, { occurredAt: minutes(5) }),
  event({ hook_event_name: 'SessionEnd', reason: 'error' }, { occurredAt: minutes(6) }),
  event(
    { hook_event_name: 'SessionEnd', reason: 'other', session_id: 's2', cwd: '/src/api' },
    { occurredAt: minutes(7) },
  ),
]

/** The statement under a heading of docs/hooks.md. */
function statement(title: string): string {
  const page = readFileSync(new URL('../../docs/hooks.md', import.meta.url), 'utf8')
  const sql = page.split(`### ${title}\n`)[1]?.match(/```sql\n([\s\S]*?)```/)?.[1]
  if (!sql) throw new Error(`docs/hooks.md has no statement under "${title}"`)
  return sql
}

describe('hooks collect', () => {
  it('takes events in on the loopback interface and stores them before it ends, and a sync brings each once', async () => {
    const { url, token, tokenFile, end } = await startCollect([local])
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/hook-events$/)
    expect(tokenFile).toBe(join(folder.path, 'data', 'hook-token'))
    const body = JSON.stringify({ events: story })
    const answers = [await post(url, token, body), await post(url, token, body)]
    for (const answer of answers) expect(answer).toMatchObject({ status: 202, document: { refused: [] } })
    expect(await post(url, 'wrong', body)).toMatchObject({ status: 401 })
    expect(await post(url, token, ' '.repeat(hookLimits.bodyBytes + 1))).toMatchObject({ status: 413 })
    expect(await post(`${url}/more`, token, body)).toMatchObject({ status: 404 })
    expect((await fetch(url)).status).toBe(404)
    expect(await end()).toBe(0)

    expect((await cliHere(['sync', 'hook_events', local])).code).toBe(0)
    expect(await ask('select count(*) as n, count(distinct event_id) as ids from hook_events')).toEqual([
      { n: 4, ids: 4 },
    ])
  })

  it('has its questions answered by the statements of docs/hooks.md', async () => {
    expect(await ask(statement('How sessions end'))).toEqual([
      { reason: 'error', sessions: 1, share: 0.5 },
      { reason: 'other', sessions: 1, share: 0.5 },
    ])
    expect(await ask(statement('How long agents wait for people'))).toEqual([
      { day: '2026-05-06', waits: 1, median_minutes: 5, p90_minutes: 5, longest_minutes: 5 },
    ])
    expect(await ask(statement('Which repositories agents work in'))).toMatchObject([
      { repository: 'acme-web', sessions: 1, machines: 1, waits: 1 },
      { repository: 'api', sessions: 1, machines: 1, waits: 0 },
    ])
  })

  it('takes the token that the environment names, and the port', async () => {
    const token = createHash('sha256').update(randomUUID()).digest('hex')
    const first = await startCollect([local], { HOOKS_TOKENS: token })
    expect(first.tokenFile).toBeNull()
    expect(await post(first.url, token, JSON.stringify({ events: [event()] }))).toMatchObject({ status: 202 })
    const { port } = new URL(first.url)
    const taken = startCollect([`--local=${join(folder.path, 'other')}`, '--port', port])
    await expect(taken).rejects.toThrow(`Port ${port} can't be used: another process has it`)
    expect(await first.end()).toBe(0)
  })

  it('is for this machine', async () => {
    await expect(startCollect([])).rejects.toThrow('add --local')
  })
})
