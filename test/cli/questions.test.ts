import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { openLakeDatabase } from '../../lib/cli/lake-database.ts'
import { emptyLake } from '../../lib/cli/lake-files.ts'
import { answerTable } from '../../lib/cli/query.ts'
import { ask } from '../../lib/cli/query-rows.ts'
import { cliHere, cliIn, temporaryFolder } from './cli.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

/** What a lake answers that has its tables and nothing in them. */
async function query(sql: string) {
  const database = await openLakeDatabase(emptyLake, sql)
  try {
    return await ask(database.connection, sql)
  } finally {
    await database.close()
  }
}

describe('a question', () => {
  it.each([
    '',
    ' ; -- nothing',
    'select 1; select 2',
    'create table t as select 1',
    'create table t as select 1; select 2',
    'drop view sessions',
    "export database '/tmp/platform-sync-escaped'",
    'explain analyze create table t as select 1',
    'set threads = 1',
    'begin',
  ])('is one question: %j is not', async (sql) => {
    await expect(query(sql)).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('one question') })
    expect(existsSync('/tmp/platform-sync-escaped')).toBe(false)
  })

  it.each([
    'from sessions_current select count(*);',
    'values (1)',
    'describe sessions',
    'show tables',
    'summarize computers',
    'explain select 1',
    '/* why */ with a as (select 1 as x) select x from a -- so',
    "pivot (select 'a' as m, 1 as v) on m using sum(v)",
    "select * from (pivot (select 'a' as m, 1 as v) on m using sum(v));",
  ])('may ask in any way: %s', async (sql) => {
    expect((await query(sql)).rows.length).toBeGreaterThan(0)
  })

  it('learns what a table and its columns mean', async () => {
    const columns =
      "select comment from duckdb_columns() where column_name = 'session_id' and table_name like 'sessions%'"
    const { rows } = await query(columns)
    expect(rows).toHaveLength(2)
    for (const [comment] of rows) expect(comment).toMatch(/session/i)
    const none =
      "select view_name from duckdb_views() where not internal and comment is null and view_name like 'session%'"
    expect((await query(none)).rows).toEqual([])
  })

  it('gets times as UTC, at any depth and whatever the zone of the machine; infinite ones as they are', async () => {
    const sql = `select timestamptz '2026-01-01 01:00:00+01' as a, [timestamptz '2026-07-01 00:00:00.5+00'] as b,
      {'t': timestamp '2026-01-01 10:00:00'} as c, timestamptz 'infinity' as d, timestamp '-infinity' as e,
      timestamp_ns '2026-01-01 00:00:00.123456789' as f, [1.5::decimal(3, 1)] as g`
    const args = ['query', '--local', './fresh', '--json', sql]
    const { stdout, stderr } = await cliIn(folder.path).run(args, { TZ: 'Asia/Kolkata' })
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual([
      {
        a: '2026-01-01T00:00:00Z',
        b: ['2026-07-01T00:00:00.5Z'],
        c: { t: '2026-01-01T10:00:00Z' },
        d: 'infinity',
        e: '-infinity',
        f: '2026-01-01T00:00:00.123456789Z',
        g: ['1.5'],
      },
    ])
  })

  it('shows no control character of the data to a terminal, and cuts no character in two', () => {
    const answer = { columns: ['a\u001b[2J'], numeric: [false], rows: [[`\u001b]0;gone\u0007${'😀'.repeat(200)}`]] }
    const table = answerTable(answer, 40)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
    expect(table).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    expect(table.isWellFormed()).toBe(true)
    expect(table).toContain('😀…')
  })

  it('ends at Ctrl-C, at once and without leaving files', async () => {
    const temporary = temporaryFolder()
    vi.stubEnv('TMPDIR', temporary.path)
    const interruption = new AbortController()
    const sql = 'select count(*) from range(10_000_000_000) a, range(10_000_000_000) b where a.range % 7 = b.range % 5'
    const ending = cliHere(['query', `--local=${join(temporary.path, 'none')}`, sql], {}, interruption.signal)
    setTimeout(() => interruption.abort(), 400)
    expect(await ending).toMatchObject({ code: 130, stdout: '' })
    expect(readdirSync(temporary.path)).toEqual([])
    temporary.remove()
  })
})
