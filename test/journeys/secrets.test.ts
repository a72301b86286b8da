import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Log } from '../../lib/core/log.ts'
import { resourceNames } from '../../lib/local/simulator/options.ts'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { platformStreams } from '../../lib/streams/index.ts'
import { sessionMessages } from '../../lib/streams/session-messages.ts'
import { shardsOf } from '../../lib/streams/shards.ts'
import { cliHere, temporaryFolder } from '../cli/cli.ts'
import { createCanaries, fingerprintOf, formsOf, releaseCanaries } from '../support/worlds/canaries.ts'
import { createConnections } from '../support/worlds/connections.ts'
import { everythingIn } from '../support/worlds/everything.ts'
import { readFolder } from '../support/worlds/local-folder.ts'
import { redactionKey, startProcess } from '../support/worlds/process.ts'
import { nothing, startStorage } from '../support/worlds/storage.ts'
import { createTime } from '../support/worlds/time.ts'

const apiKey = 'sk/Canary+of-the-key/4711=='
const counts = { sessions: 3, users: 3, reports: 3, revisions: 3, computers: 3 }
const canaries = createCanaries()
// The shard that reads the messages of the session with canaries, from the second night on.
const streams = [...platformStreams, ...shardsOf(sessionMessages).filter(({ parent }) => parent?.owns?.('s-1'))]
const folder = temporaryFolder()
const out = temporaryFolder()
let simulator: Simulator

beforeAll(async () => {
  simulator = await startSimulator({ counts, apiKey })
  releaseCanaries(simulator, canaries.secret)
})
afterAll(async () => {
  await simulator.close()
  folder.remove()
  out.remove()
})

/** Answers that give the key away in every way we could think of. */
function echoes() {
  const forms = { raw: apiKey, header: `Bearer ${apiKey}`, url: encodeURIComponent(apiKey) }
  const body = {
    ...forms,
    base64: Buffer.from(apiKey).toString('base64'),
    basic: Buffer.from(`me:${apiKey}`).toString('base64'),
  }
  simulator.fault({ kind: 'status', endpoint: 'listSessions', status: 500, body, times: 2 })
  simulator.fault({ kind: 'status', endpoint: 'listReports', status: 403, body })
  simulator.fault({ kind: 'echoKey', endpoint: 'listUsers', status: 400 })
  simulator.fault({ kind: 'html200', endpoint: 'listComputers', html: `<h1>${apiKey}</h1>${JSON.stringify(body)}` })
  simulator.fault({
    kind: 'redirect',
    endpoint: 'listRevisions',
    location: `https://me:${apiKey}@example.com/?key=${encodeURIComponent(apiKey)}`,
    times: 1,
  })
}

function recorder(lines: string[]): Log {
  const add = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  return { debug: add, info: add, warn: add, error: add }
}

/** The canaries that a text holds in some form, and the key if it does. */
function foundIn(text: string): string[] {
  return [...canaries.all, { place: 'the API key', secret: apiKey }]
    .filter(({ secret }) => formsOf(secret).some((form) => text.includes(form)))
    .map(({ place }) => place)
}

describe('secrets', () => {
  it('reach no table, object, log line, result or run record, only their fingerprints do (HTTP-10)', async () => {
    const storage = await startStorage()
    await storage.reset(nothing)
    const connections = createConnections(storage.clients)
    const said: string[] = []
    const surroundings = { storage, connections, platformUrl: () => simulator.url, log: recorder(said), apiKey }
    for (const [day, troubled] of [true, false, true].entries()) {
      if (troubled) echoes()
      else simulator.clearFaults()
      const time = createTime(Date.UTC(2026, 10, 2 + day))
      const run = { runId: `r${day}`, scheduledAt: time.now() }
      const end = await startProcess(run, streams, { ...surroundings, time }).end
      said.push(JSON.stringify(end), String(end.how === 'done' && 'failed' in end.run && end.run.failed))
    }
    const stored = await everythingIn(await storage.read())
    connections.close()
    await storage.close()

    expect(said.join('\n')).toContain('[secret]')
    expect(foundIn(said.join('\n'))).toEqual([])
    expect(foundIn(stored)).toEqual([])
    const unseen = canaries.all.filter(({ value }) => !stored.includes(fingerprintOf(value)))
    expect(unseen.map(({ place }) => place)).toEqual([])
  })

  it('reach nothing that the command line says or keeps', async () => {
    const variables = {
      PLATFORM_APP_URL: simulator.url,
      PLATFORM_BASE_URL: simulator.url,
      PLATFORM_API_KEY: apiKey,
      REDACTION_KEY: redactionKey,
      MESSAGES_ENABLED: 'true',
    }
    simulator.clearFaults()
    const local = ['--local', folder.path]
    const said: string[] = []
    for (const args of [
      ['sync', ...local, '--verbose'],
      ['status', ...local, '--json'],
      ['query', ...local, '--json', 'select * from enterprise_control_revisions'],
      ['query', ...local, 'select * from enterprise_setting_changes'],
      ['query', ...local, '--json', 'select * from message_blocks_current'],
      ['audit', 'show', '900', ...local],
      ['audit', 'diff', '3', '900', ...local, '--json'],
      ['audit', 'report', ...local, '--out', join(out.path, 'report.html')],
      ['audit', 'export', ...local, '--out', join(out.path, 'pack')],
      ['query', ...local, `select '${canaries.all.length}' as n, * from sessions_current`],
    ]) {
      const { code, stdout, stderr } = await cliHere(args, variables)
      expect([code, stderr]).toEqual([code === 3 ? 3 : 0, stderr])
      said.push(stdout, stderr)
    }
    echoes()
    const { stdout, stderr } = await cliHere(
      ['sync', ...local, '--json', '--verbose', 'organization_users', 'readiness_reports', 'computers'],
      variables,
    )
    said.push(stdout, stderr)
    expect(said.join('\n')).toContain('redacted:hmac-sha256:')
    expect(foundIn(said.join('\n'))).toEqual([])
    expect(foundIn(await everythingIn(await readFolder(folder.path)))).toEqual([])
    const handedOut = readdirSync(out.path, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
    expect(handedOut.length).toBeGreaterThan(8)
    const texts = handedOut.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
    expect(foundIn(texts.join('\n'))).toEqual([])
  })

  it('would be found if they were there', async () => {
    const sent = resourceNames.flatMap((resource) =>
      ['900', '901', 'no-key', 'u-1', 'u-2', 's-1', 'c-1', 'r-1'].map((id) =>
        JSON.stringify(simulator.get(resource, id)),
      ),
    )
    const headers = { authorization: `Bearer ${apiKey}` }
    sent.push(await (await fetch(`${simulator.url}/api/v0/sessions/s-1/messages`, { headers })).text())
    const basic = Buffer.from(`me:${apiKey}`).toString('base64')
    expect(foundIn([...sent, basic].join('\n'))).toHaveLength(canaries.all.length + 1)
    expect(foundIn(encodeURIComponent(apiKey))).toEqual(['the API key'])
  })
})
