import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Emulators, startEmulators } from '../../lib/local/emulators/emulators.ts'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { cliHere, temporaryFolder } from './cli.ts'

const folder = temporaryFolder()
const file = join(folder.path, 'pages', 'night.html')
const hostile = `"><script>document.title='pwned'</script>`
let emulators: Emulators
let simulator: Simulator
let variables: Record<string, string>
let page: string
let document: Record<string, unknown> & { streams: Record<string, unknown>[] }
let status: { streams: Record<string, unknown>[] }

async function run(...args: string[]) {
  const { code, stdout, stderr } = await cliHere([...args, '--json'], variables)
  return { code, stderr, document: JSON.parse(stdout) }
}

function useCredentials() {
  // What the SDK reads by itself it finds where a process has it.
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, variables[name])
}

/** A night on which everything that a page can tell has happened. */
function makeTrouble() {
  const users = { endpoint: 'listUsers', kind: 'mutateRecord' } as const
  simulator.fault({ ...users, record: 0, change: { do: 'set', field: 'email', value: 12 } })
  simulator.fault({ ...users, record: 1, change: { do: 'replace', value: { id: '', email: 'secret@people.example' } } })
  simulator.fault({ endpoint: 'listUsers', kind: 'truncatedList', keep: 20 })
  const session = { messageCount: 1, createdAt: Date.UTC(2026, 10, 1), updatedAt: Date.UTC(2026, 10, 1) }
  for (const [id, of] of Object.entries({ a: 'archived', b: 'archived', c: hostile }))
    simulator.put('sessions', id, { value: { sessionId: id, ...session, status: of, [hostile]: 'a value' } })
  simulator.fault({ kind: 'status', endpoint: 'listComputers', status: 429, headers: { 'retry-after': '2592000' } })
}

beforeAll(async () => {
  simulator = await startSimulator({ counts: { reports: 3, sessions: 12, users: 60, revisions: 3, computers: 2 } })
  emulators = await startEmulators({ dir: join(folder.path, 'data') })
  variables = {
    ...emulators.environment,
    PLATFORM_APP_URL: simulator.appUrl,
    PLATFORM_BASE_URL: simulator.baseUrl,
    PLATFORM_API_KEY: 'sim-key',
    REDACTION_KEY: 'k'.repeat(32),
  }
  useCredentials()
  expect((await run('sync')).code).toBe(0)
  makeTrouble()
  expect((await run('sync')).code).toBe(3)
  status = (await run('status')).document
  const report = await run('report', '--out', file)
  expect(report).toMatchObject({ code: 0, stderr: '' })
  document = report.document
  page = readFileSync(file, 'utf8')
})
beforeEach(useCredentials)
afterAll(async () => {
  await emulators?.close()
  await simulator?.close()
  folder.remove()
})

describe('report', () => {
  it('tells of each stream what status tells, on the page and as JSON', () => {
    for (const [at, { lagSeconds: _, ...standing }] of status.streams.entries()) {
      expect(document.streams[at]).toMatchObject(standing)
      const row = page.slice(page.indexOf(`<tr><th scope="row">${standing.stream}`)).split('</tr>')[0]
      for (const label of ['records', 'changed', 'quarantined']) {
        const shown = standing[label] === null ? '' : Number(standing[label]).toLocaleString('en-US')
        expect(row).toContain(`data-label="${label[0]?.toUpperCase()}${label.slice(1)}">${shown}</td>`)
      }
    }
  })

  it('answers whether the data is in, and names the streams that are not', () => {
    const answer = 'No. Of 7 streams 2 are not in: organization_users (suspect), computers (rate_limited).'
    expect(document).toMatchObject({ isIn: false, answer })
    expect(page).toContain(`<p class="verdict bad">${answer}</p>`)
  })

  it('gives the command that accepts withheld deletes', () => {
    expect(status.streams[2]).toMatchObject({ stream: 'organization_users', withheldDeletes: 41 })
    expect(page).toContain('<strong>organization_users</strong>: 41 deletes are withheld')
    expect(page).toContain('<code>platform-sync approve organization_users</code>')
  })

  it('tells until when a stream waits, with the time of day', () => {
    const { waitsUntil } = status.streams.find(({ stream }) => stream === 'computers') as { waitsUntil: string }
    expect(page).toContain('<strong>computers</strong>: the platform wants no request before')
    expect(page).toContain(`<time datetime="${waitsUntil}">${waitsUntil.slice(0, 16).replace('T', ' ')}</time> UTC`)
  })

  it('says why records and values were set aside, and shows none of what is in them', () => {
    expect(document.quarantine).toMatchObject([
      { stream: 'organization_users', records: 1, reasons: [{ reason: expect.stringContaining('primary key') }] },
    ])
    expect(document.invalid).toContainEqual({
      stream: 'organization_users',
      field: 'email',
      records: 1,
      example: expect.stringMatching(/^is a/),
    })
    expect(page).not.toContain('secret@people.example')
    expect(page).not.toContain('a value<')
  })

  it('tells drift in words, and how many new and changed records had some', () => {
    expect(page).toContain('<code>status</code> has a value never seen before: <code>archived</code>')
    expect(document.drift).toMatchObject([{ stream: 'sessions', records: 3 }])
  })

  it('shows what came from the platform as text, and asks nothing of another place', () => {
    expect(page).not.toMatch(/<script|<img/)
    expect(page).toContain('&quot;&gt;&lt;script&gt;document.title=&#39;pwned&#39;&lt;/script&gt;')
    expect(page).not.toMatch(/(?:src|href)=["'](?!#)|url\(|@import/)
  })

  it('counts what the last run cost', () => {
    const changed = status.streams.reduce((sum, { changed }) => sum + Number(changed ?? 0), 0)
    expect(document.cost).toMatchObject({ requests: expect.any(Number), files: expect.any(Number) })
    expect((document.cost as { recordWrites: number }).recordWrites).toBeLessThanOrEqual(changed)
    expect(page).toMatch(/<dt>S3 and DynamoDB on AWS<\/dt><dd>0\.\d{4} USD<\/dd>/)
  })

  it('says of a folder that keeps nothing that nothing was synced, and makes no folder', async () => {
    const out = join(folder.path, 'empty.html')
    const empty = await run('report', '--local', join(folder.path, 'none'), '--out', out)
    expect(empty).toMatchObject({ code: 0, document: { isIn: false, lastRun: null } })
    expect(readFileSync(out, 'utf8')).toContain('Nothing was synced yet. Begin with: platform-sync sync')
  })

  it('says which file it can not write', async () => {
    const { code, document } = await run('report', '--local', join(folder.path, 'none'), '--out', folder.path)
    expect([code, document.error.message]).toEqual([2, expect.stringContaining(`${folder.path} can't be written`)])
  })
})
