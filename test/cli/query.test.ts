import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openLakeDatabase } from '../../lib/cli/lake-database.ts'
import { ask } from '../../lib/cli/query-rows.ts'
import { runSync } from '../../lib/cli/run-sync.ts'
import { composeRun, type RunRoot } from '../../lib/compose/run.ts'
import { silentLog } from '../../lib/core/log.ts'
import { noMetrics } from '../../lib/core/metrics.ts'
import { type Emulators, startEmulators } from '../../lib/local/emulators/emulators.ts'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { platformStreams, streams } from '../../lib/streams/index.ts'
import { tablesOf } from '../../lib/streams/stream.ts'
import { columnsOf } from '../../lib/streams/table.ts'
import { temporaryFolder } from './cli.ts'

const folder = temporaryFolder()
let emulators: Emulators
let simulator: Simulator
let app: RunRoot

const silent = { begin() {}, add() {}, end() {}, line() {}, stop() {} }
function sync() {
  return runSync(platformStreams, { root: app, progress: silent, interrupted: new AbortController().signal })
}
async function query(sql: string) {
  const database = await openLakeDatabase(app, sql)
  try {
    return await ask(database.connection, sql)
  } finally {
    await database.close()
  }
}
async function rows(sql: string) {
  return (await query(sql)).rows
}
function session(title: string, tags: string[]) {
  return {
    value: {
      sessionId: 'the-one',
      status: 'idle',
      messageCount: 1,
      createdAt: Date.UTC(2026, 10, 1),
      updatedAt: Date.UTC(2026, 10, 1),
      title,
      sessionSettings: { tags: tags.map((name) => ({ name })) },
    },
  }
}

/** The statements below a heading of a page. */
function statementsOf(page: string, heading: string): string[] {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')
  const section = text.split(/^## /m).find((each) => each.startsWith(heading)) ?? ''
  return [...section.matchAll(/```sql\n([^`]*)```/g)].map(([, sql = '']) => sql)
}

beforeAll(async () => {
  simulator = await startSimulator({ counts: { reports: 3, sessions: 5, users: 8, revisions: 3, computers: 2 } })
  emulators = await startEmulators({ dir: folder.path })
  const variables = {
    ...emulators.environment,
    PLATFORM_APP_URL: simulator.appUrl,
    PLATFORM_BASE_URL: simulator.baseUrl,
    PLATFORM_API_KEY: 'sim-key',
    REDACTION_KEY: 'k'.repeat(32),
  }
  app = composeRun(variables, { log: silentLog, metrics: noMetrics, credentials: emulators.credentials })
})
afterAll(async () => {
  app.close()
  await emulators.close()
  await simulator.close()
  folder.remove()
})

describe('views over the lake', () => {
  it('stand with their declared columns before anything was synced', async () => {
    for (const stream of streams) {
      for (const table of tablesOf(stream)) {
        const { columns, rows } = await query(`select * from ${table.name}`)
        expect([columns, rows]).toEqual([columnsOf(table).map(({ name }) => name), []])
        expect(await query(`select count(*) from ${table.name}_current`)).toMatchObject({ rows: [[0]] })
      }
    }
    expect(await rows('select count(*) from quarantine')).toEqual([[0]])
  })

  it('show a record that went from A to B and back to A once, as A, with the tags of its newest version', async () => {
    for (const [title, tags] of [
      ['A', ['x', 'y']],
      ['B', ['x']],
      ['A', ['z', 'x']],
    ] as const) {
      simulator.put('sessions', 'the-one', session(title, [...tags]))
      expect((await sync()).record.status).toBe('complete')
    }
    const one = "where session_id = 'the-one'"
    expect(await rows(`select title from sessions ${one} order by _synced_at`)).toEqual([['A'], ['B'], ['A']])
    expect(await rows(`select title from sessions_current ${one}`)).toEqual([['A']])
    expect(await rows(`select position, name from session_tags_current ${one} order by position`)).toEqual([
      [0, 'z'],
      [1, 'x'],
    ])
    expect(await rows(`select count(*) from session_tags ${one}`)).toEqual([[5]])
  })

  it('leave out what is deleted, nested rows included, and show it again when it comes back', async () => {
    const count = (table: string) => rows(`select count(*) from ${table} where session_id = 'the-one'`)
    simulator.remove('sessions', 'the-one')
    await sync()
    expect([await count('sessions_current'), await count('session_tags_current')]).toEqual([[[0]], [[0]]])
    expect(
      await rows("select _op from sessions where session_id = 'the-one' order by _synced_at desc limit 1"),
    ).toEqual([['delete']])
    simulator.put('sessions', 'the-one', session('C', ['back']))
    await sync()
    expect([await count('sessions_current'), await count('session_tags_current')]).toEqual([[[1]], [[1]]])
  })

  it('show what is odd beside its columns, and what no table can take in quarantine', async () => {
    simulator.put('users', 'user_odd', { value: { id: 'user_odd', email: 12 } })
    simulator.put('users', 'user_bad', { value: { id: '', email: 12 } })
    await sync()
    const [odd] = await rows(
      "select id, email, m ->> 'field', m ->> 'value' from organization_users_current, " +
        'unnest(from_json(_invalid, \'["json"]\')) as t(m)',
    )
    expect(odd).toEqual(['user_odd', null, 'email', '12'])
    const [row] = await rows("select stream, key, reasons, raw->>'email', run_id, scan_id from quarantine")
    const id = expect.stringMatching(/./)
    expect(row).toEqual(['organization_users', null, [expect.stringContaining('primary key')], '12', id, id])
    simulator.remove('users', 'user_bad')
    simulator.remove('users', 'user_odd')
    await sync()
  })

  it('agree with what the platform has', async () => {
    const { records } = simulator.state()
    const counts =
      await rows(`select (select count(*) from readiness_reports_current), (select count(*) from sessions_current),
      (select count(*) from organization_users_current), (select count(*) from enterprise_control_revisions_current),
      (select count(*) from computers_current)`)
    expect(counts).toEqual([[records.reports, records.sessions, records.users, records.revisions, records.computers]])
  })
})

describe('a statement', () => {
  it('gets numbers as numbers where a double holds them, and times as ISO 8601', async () => {
    const sql = `select 12::bigint as a, 9007199254740993 as b, sum(message_count) as c, 1.50::decimal(10, 2) as d,
      timestamp '2026-11-01 10:00:00.5' as e, {'x': 1} as f, null as g from sessions_current where session_id = 'the-one'`
    const { rows } = await query(sql)
    expect(rows).toEqual([[12, '9007199254740993', 1, 1.5, '2026-11-01T10:00:00.5Z', { x: 1 }, null]])
  })

  it.each([
    "select * from read_text('/etc/hostname')",
    "copy (select 1) to '/tmp/platform-sync-escaped.csv'",
    'install spatial',
    "attach '/tmp/platform-sync-escaped.db'",
    'set enable_external_access = true',
  ])('reaches nothing outside the lake: %s', async (sql) => {
    await expect(query(sql)).rejects.toMatchObject({ name: 'FatalError', code: 'usage' })
  })

  it.each([
    ['is gone', null],
    ['is not what was written', Buffer.from('PAR1 of another time')],
  ])('is told which file %s, and what to do', async (what, bytes) => {
    const broken = { lake: app.lake, objects: { ...app.objects, get: async () => bytes } }
    await expect(openLakeDatabase(broken, 'select * from sessions')).rejects.toMatchObject({
      code: 'damaged_state',
      message: expect.stringMatching(new RegExp(`changes/sessions/.*${what}.*Restore an earlier version`)),
    })
  })

  it('tells how fresh each stream is, though a run that changed nothing publishes nothing', async () => {
    const complete = `select count(*), max(complete_at) from _freshness where scan_status = 'complete' and records > 0`
    const [[streamsRead, before]] = (await rows(complete)) as [[number, string]]
    expect(streamsRead).toBe(platformStreams.length)
    const { manifest } = await sync()
    expect(manifest.scans).toEqual([])
    const [[, after]] = (await rows(complete)) as [[number, string]]
    expect(Date.parse(after)).toBeGreaterThan(Date.parse(before))
  })

  it("tells of each run what became of each stream, by the docs' own statements", async () => {
    simulator.put('users', 'user_more', { value: { id: 'user_more', email: 'more@example.com' } })
    const { record } = await sync()
    await sync()
    const [fresh = '', late = '', counts = ''] = statementsOf('docs/warehouse.md', 'Is last night in?')
    const names = platformStreams.map(({ name }) => name).sort()
    expect(await rows(fresh)).toEqual(names.map((name) => [name, expect.stringMatching(/Z$/), expect.any(Boolean)]))
    expect(await rows(late)).toEqual([])
    const found = await query(counts)
    expect(found.columns).toEqual(['finished_at', 'stream', 'inserted', 'updated', 'deleted', 'requests'])
    expect(found.rows[0]?.[1]).toBe('organization_users')
    const changed = await rows(
      `select inserted, records > 0, field_rules from _runs where run_id = '${record.runId}' and stream = 'organization_users'`,
    )
    expect(changed).toEqual([[1, true, null]])
  })

  it('gives an element of a list a row, as the docs say', async () => {
    const { value } = session('Tools', [])
    simulator.put('sessions', 'with-tools', {
      value: { ...value, sessionId: 'with-tools', sessionSettings: { enabledToolIds: ['read', 'write'] } },
    })
    await sync()
    const [statement = ''] = statementsOf('docs/warehouse.md', 'Lists')
    const found = await rows(`select tool from (${statement.replace(';', '')}) where session_id = 'with-tools'`)
    expect(found).toEqual([['read'], ['write']])
    simulator.remove('sessions', 'with-tools')
    await sync()
  })

  it('loads only the tables it names, and their parents', async () => {
    const asked: string[] = []
    const get = (key: string) => {
      asked.push(key)
      return app.objects.get(key)
    }
    const watched = { lake: app.lake, objects: { ...app.objects, get } }
    const database = await openLakeDatabase(watched, 'select * from session_tags_current')
    await database.close()
    expect(new Set(asked.map((key) => key.split('/')[1]))).toEqual(new Set(['sessions', 'session_tags']))
  })

  it('leaves no files behind, whether it succeeds or not (SQS-12)', async () => {
    const temporary = temporaryFolder()
    vi.stubEnv('TMPDIR', temporary.path)
    const database = await openLakeDatabase(app, 'select * from sessions')
    expect(readdirSync(temporary.path)).toHaveLength(1)
    await database.close()
    await expect(query('select nope from sessions')).rejects.toThrow('nope')
    await expect(query('selec')).rejects.toThrow('syntax')
    expect(readdirSync(temporary.path)).toEqual([])
    temporary.remove()
  })
})
