import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { platformStreams } from '../../lib/streams/index.ts'
import { type Account, createAccount } from './emulator.ts'
import { type Installation, installationIn } from './installation.ts'
import { adaptTo, bootstrap, deploy, destroy, synthesize } from './stacks.ts'

const streams = platformStreams.map(({ name }) => name)
const counts = { reports: 12, sessions: 250, users: 120, revisions: 8, computers: 4 }
const idOf = { sessions: 'sessionId', organization_users: 'id', readiness_reports: 'reportId' } as const

const work = mkdtempSync(join(tmpdir(), 'platform-sync-stacks-'))
function outOf(name: string) {
  return join(work, name)
}
const [acme, globex] = ['acme', 'globex']
let account: Account
let platform: Simulator
let installation: Installation
let other: Installation

beforeAll(async () => {
  platform = await startSimulator({ counts, apiKey: 'key-of-the-organization' })
  account = await createAccount()
  await account.start({ enforced: false })
  for (const name of [acme, globex]) {
    await synthesize(outOf(name), name)
    adaptTo(outOf(name), name, platform)
  }
  await bootstrap(account, outOf(acme))
  await deploy(account, outOf(acme))
  installation = installationIn(account, acme)
  other = installationIn(account, globex)
  await installation.putApiKey('key-of-the-organization')
})
afterAll(async () => {
  installation?.close()
  other?.close()
  await account?.remove()
  await platform?.close()
  rmSync(work, { recursive: true, force: true })
})

type Answer = { pagination: { hasMore: boolean; nextCursor?: string } } & { [member: string]: Record<string, string>[] }

/** The platform's list, as the API shows it, by id. */
async function listed(path: string, member: string, id: string): Promise<Map<string, Record<string, unknown>>> {
  const found = new Map<string, Record<string, unknown>>()
  let query: string | null = '?limit=100'
  while (query !== null) {
    const headers = { authorization: 'Bearer key-of-the-organization' }
    const response: Response = await fetch(`${platform.baseUrl}${path}${query}`, { headers })
    const { pagination, [member]: records = [] } = (await response.json()) as Answer
    for (const record of records) found.set(record[id] as string, record)
    query = pagination.hasMore ? `?limit=100&cursor=${pagination.nextCursor}` : null
  }
  return found
}

function nested(levels: number): unknown {
  return levels === 0 ? 'deep' : [nested(levels - 1)]
}

/** Compares what an installation holds with what the platform shows. */
async function expectTheSame(of: Installation): Promise<void> {
  const held = new Map((await of.records('sessions')).map(({ key, body }) => [key, JSON.parse(body)]))
  const shown = await listed('/api/v0/sessions', 'sessions', idOf.sessions)
  expect([...held.keys()].sort()).toEqual([...shown.keys()].sort())
  for (const [key, record] of shown) expect(held.get(key)).toMatchObject({ updatedAt: record.updatedAt })
  const users = await listed('/api/v0/organization/users', 'users', idOf.organization_users)
  expect((await of.records('organization_users')).map(({ key }) => key).sort()).toEqual([...users.keys()].sort())
}

describe('both stacks, deployed as they are', () => {
  it('run a night with the rights of their roles, and hold what the platform shows', async () => {
    await account.start({ enforced: true })
    await installation.night('2026-03-01T02:00:00Z', streams)
    await expectTheSame(installation)
    expect(await installation.list('lake', 'manifests/')).toContain('manifests/latest.json')
    expect(await installation.list('audit', 'audit/entries/')).toHaveLength(counts.revisions)
  })

  it('run a second night, which brings what changed, and keeps what no table can take in quarantine', async () => {
    platform.advance()
    platform.put('sessions', 'deep', { value: { sessionId: 'deep', unheardOf: nested(201) } })
    await installation.night('2026-03-02T02:00:00Z', streams)
    expect(await installation.list('lake', 'quarantine/sessions/')).toHaveLength(1)
    platform.remove('sessions', 'deep')
    await expectTheSame(installation)
  })

  it('say in the end of a run what failed, and publish the rest', async () => {
    platform.advance()
    platform.fault({ endpoint: 'listComputers', kind: 'status', status: 404 })
    platform.put('sessions', 'deep', { value: { sessionId: 'deep', unheardOf: nested(201) } })
    const failure = await installation.night('2026-03-03T02:00:00Z', streams).catch(String)
    expect(failure).toMatch(/ended as FAILED: StreamsFailed: computers failed: GET .* status 404/)
    // So do these tests: what functions warned of stands beside it.
    expect(failure).toMatch(/\nsync-stream:\n( {2}.*\n)* {2}.*Records were quarantined/)
    platform.remove('sessions', 'deep')
    platform.clearFaults()
    await expectTheSame(installation)
  })

  it('sign the audit trail once a day', async () => {
    expect(await installation.invoke('audit-digest')).toMatchObject({ faults: 0, newFindings: 0 })
    expect(await installation.list('audit', 'audit/digests/')).not.toHaveLength(0)
  })

  it('set the credit limits of a file that lies in the inbox', async () => {
    await account.start({ enforced: false })
    const [user] = await installation.records('organization_users')
    const { email } = JSON.parse(user!.body) as { email: string }
    await installation.drop('limits.csv', `email,limit\n${email},250\n`)
    for (let waited = 0; platform.limits.size === 0 && waited < 120; waited++) await sleep(500)
    expect(Object.fromEntries(platform.limits)).toEqual({ [email.toLowerCase()]: 250 })
  })

  it('leave a second organization beside them alone', async () => {
    await deploy(account, outOf(globex))
    await other.putApiKey('key-of-the-organization')
    await other.night('2026-03-04T02:00:00Z', ['sessions', 'organization_users'])
    await expectTheSame(other)
    expect(await other.records('readiness_reports')).toEqual([])
  })

  it('go on where they were after the stateless one was removed and deployed again', async () => {
    const before = await installation.records('sessions')
    await destroy(account, outOf(acme), [`${acme}-stateless`])
    await deploy(account, outOf(acme), [`${acme}-stateless`, '--exclusively'])
    await installation.night('2026-03-05T02:00:00Z', streams)
    const after = await installation.records('sessions')
    expect(after.map(({ key, changedAt }) => [key, changedAt])).toEqual(
      before.map(({ key, changedAt }) => [key, changedAt]),
    )
  })
})
