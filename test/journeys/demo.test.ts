import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHere, cliIn, temporaryFolder, wordsOf } from '../cli/cli.ts'

const folder = temporaryFolder()
const { run, json } = cliIn(folder.path)
afterAll(folder.remove)

type Counts = Record<
  'received' | 'inserted' | 'updated' | 'unchanged' | 'duplicate' | 'quarantined' | 'deleted',
  number
>
type Stream = { stream: string; status: string; counts: Counts & { apiCalls: number; invalid: unknown } }

describe('the demo', () => {
  let document: {
    runs: { status: string; streams: Stream[] }[]
    audit: unknown
    queries: { name: string; columns: string[]; rows: unknown[][] }[]
    policy: { joined: number; left: number; raisesEnded: number }
    limits: { refused: string[]; rows: number; ended: Record<string, number> }
    pages: string[]
  }
  let stderr: string
  const streamOf = (runAt: number, name: string) =>
    document.runs[runAt]?.streams.find(({ stream }) => stream === name) as Stream

  beforeAll(async () => {
    // A proxy that nobody answers at: what runs on this machine is not behind it.
    const demo = await json(['demo'], { HTTP_PROXY: 'http://127.0.0.1:1', http_proxy: 'http://127.0.0.1:1' })
    expect(demo.code).toBe(0)
    document = demo.document
    stderr = demo.stderr
  })

  it('reads everything as new on the first day', () => {
    const [first] = document.runs
    expect(first?.status).toBe('complete')
    expect(first?.streams.map(({ counts }) => [counts.received, counts.inserted])).toEqual([
      [240, 240],
      [1200, 1200],
      [1000, 1000],
      [40, 40],
      [12, 12],
      // No limit was set yet, and no machine has sent an event.
      [0, 0],
      [0, 0],
    ])
  })

  it('finds what is new, changed, gone and odd on the second, and accounts for each record received', () => {
    expect(document.runs[1]?.status).toBe('complete')
    for (const { counts } of document.runs[1]?.streams ?? []) {
      const { received, inserted, updated, unchanged, duplicate, quarantined } = counts
      expect(inserted + updated + unchanged + duplicate + quarantined).toBe(received)
    }
    const { counts } = streamOf(1, 'sessions')
    expect(counts).toMatchObject({ inserted: 36, quarantined: 0, invalid: { messageCount: 1 } })
    expect(counts.updated).toBeGreaterThan(50)
    expect(counts.deleted).toBeGreaterThan(5)
    // What was there, less what went, and what came.
    expect(1200 + counts.inserted - counts.deleted).toBe(counts.received)
  })

  it('reads the messages of every session, from the second day on', () => {
    expect(streamOf(0, 'session_messages')).toBeUndefined()
    const { status, counts } = streamOf(1, 'session_messages')
    expect([status, counts.apiCalls]).toEqual(['complete', 1224])
    expect(counts.received).toBeGreaterThan(2_000)
    expect(counts.inserted).toBe(counts.received)
  })

  it('brings each event that a machine sent, and the copies of some, to the lake once', () => {
    expect(streamOf(1, 'hook_events').counts).toMatchObject({ received: 72, inserted: 72, quarantined: 0 })
  })

  it('waits out the rate limit, and says so', () => {
    expect(streamOf(1, 'organization_users').counts.apiCalls).toBe(11 + 2)
    expect(stderr).toMatch(
      /GET \/api\/v0\/organization\/users: rate limited, tries again at (\S+ )?\d\d:\d\d:\d\d UTC \(in 1 s\)/,
    )
  })

  it('answers its questions from the published lake', () => {
    const { counts } = streamOf(1, 'organization_users')
    const answers = Object.fromEntries(document.queries.map(({ name, rows }) => [name, rows]))
    expect(answers.users?.map(([what, users]) => [what, users])).toEqual([
      ['joined', counts.inserted],
      ['left', counts.deleted],
    ])
    expect(answers.readiness).toHaveLength(6)
    expect(document.queries[0]?.columns.slice(0, 3)).toEqual(['criterion_id', '2026-05', '2026-06'])
    expect(document.queries.find(({ name }) => name === 'tools')?.columns).toEqual([
      'model',
      'edit',
      'execute',
      'glob',
      'read',
    ])
    expect(answers.tools).toHaveLength(5)
    expect(answers.credits?.map(([model]) => model)).toContain('atlas-large')
    // The same question over files and over the Iceberg table.
    expect(answers.standing?.length).toBeGreaterThan(1)
    expect(answers.standing_iceberg).toEqual(answers.standing)
    expect(answers.invalid).toEqual([[null, expect.stringContaining('"value":"a dozen"')]])
    expect(answers.waits?.map(([repository, waits]) => [repository, waits])).toEqual([
      ['acme-api', 8],
      ['acme-infra', 8],
      ['acme-web', 8],
    ])
  })

  it('shows that the history of the settings proves itself', () => {
    expect(document.audit).toMatchObject({ ok: true, checked: { entries: 44 }, unsignedEntries: 0, faults: [] })
  })

  it('keeps a policy: joiners get a limit, leavers lose theirs, and a raise ends', () => {
    const { counts } = streamOf(1, 'organization_users')
    expect(document.policy).toEqual({ joined: counts.inserted, left: counts.deleted, raisesEnded: 1 })
  })

  it('refuses a plan with a limit that is too large, and then sets 993 of 1,000 limits and says what became of the rest', () => {
    expect(document.limits).toMatchObject({ refused: [expect.stringContaining('line 501')], rows: 1000 })
    expect(document.limits.ended).toEqual({ applied: 993, rejected: 6 })
  })

  it('writes pages to look at, and says where they are', () => {
    const pages = join('.local', 'pages')
    expect(document.pages).toEqual(['night', 'limits', 'audit'].map((name) => join(pages, `${name}.html`)))
    const [night = '', , audit = ''] = document.pages.map((file) => readFileSync(join(folder.path, file), 'utf8'))
    expect(audit).toContain('The evidence is complete and unaltered up to digest ')
    expect(night).toContain('Yes. All 8 streams are in.')
  })

  it('keeps nothing in its folder that the next demo does not remove', () => {
    const entries = [
      'audit-signing-key.pem',
      'dynamodb',
      'limits.csv',
      'lock.db',
      'pages',
      'plans',
      'platform.json',
      'redaction-key',
      's3',
      'sqs',
    ]
    expect(readdirSync(join(folder.path, '.local')).sort()).toEqual(entries)
  })

  it('leaves a key for fingerprints that only its owner can read', () => {
    expect(statSync(join(folder.path, '.local', 'redaction-key')).mode & 0o777).toBe(0o600)
  })

  it('starts from scratch when it is run again, and what it says to try next works', async () => {
    const { code, stdout } = await run(['demo'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^sessions +complete +1,200 +1,200 +0 +0 +0 +0 +12 /m)
    expect(stdout).toMatch(/^sessions +complete +1,224 +36 +56 +1,132 +12 +0 +13 /m)

    // Nothing of the first demo is left to be counted twice.
    expect(stdout).toMatch(/^joined +20 /m)
    expect(stdout.match(/"field":"messageCount"/g)).toHaveLength(1)

    const next = stdout
      .split('\n')
      .flatMap((line) => line.match(/^ {2}(?:\w+=true )?npm run -s platform-sync -- .+$/) ?? [])
    const wordsAfter = (line: string) => line.replace(/^.* -- /, '')
    expect(next.map((line) => wordsAfter(line).split(' ')[0])).toEqual([
      'status',
      'sync',
      'sync',
      'sync',
      'query',
      'limits',
      'limits',
      'limits',
      'audit',
      'audit',
      'simulator',
    ])
    const outputs = []
    for (const line of next.slice(0, -1)) {
      const here = wordsOf(wordsAfter(line)).map((word) => {
        if (word === '--local') return `--local=${join(folder.path, '.local')}`
        return ['report.html', 'evidence'].includes(word) ? join(folder.path, word) : word
      })
      const ended = await cliHere(here, line.includes('MESSAGES_ENABLED=true ') ? { MESSAGES_ENABLED: 'true' } : {})
      expect([line, ended.code]).toEqual([line, 0])
      outputs.push(ended.stdout)
    }
    const [status, again, withMessages, dayLater, query, failed, checked, planned] = outputs
    expect(status).toMatch(/^sessions +complete .* 1,224 +92 +0 +0$/m)
    expect(status).toMatch(/^sessions: messageCount in 1 record: an unforeseen form/m)
    // The same platform goes on: nothing changed, and the odd value is still odd.
    expect(again).toMatch(/^sessions +complete +1,224 +0 +0 +1,224 +0 +0 /m)
    expect(again).toMatch(/^sessions: messageCount in 1 record: an unforeseen form/m)
    expect(again).toMatch(/^organization_users +complete +1,001 +0 +0 +1,001 +0 +0 /m)
    expect(withMessages).toMatch(/^session_messages +complete( +0){7} /m)
    expect(dayLater).toMatch(/^sessions +complete +1,2\d\d +36 +\d+ +1,\d+ +\d+ +0 /m)
    expect(query).toMatch(/^idle +\d+$/m)
    expect(failed).toContain('25 outcomes.')
    expect(checked).toMatch(/^group engineers +2100 +\d+$/m)
    expect(planned).toContain('It is within the guard.')
  })
})
