import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { openLakeDatabase } from '../../lib/cli/lake-database.ts'
import { emptyLake } from '../../lib/cli/lake-files.ts'
import { answerTable, answerText, fittingFormat } from '../../lib/cli/query-layout.ts'
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
    expect(stderr).toMatch(/^\S+fresh does not exist[^\n]*\n$/)
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

  it('shows rows that no table of the width can hold as records, a line per column, and cuts heads', () => {
    const columns = Array.from({ length: 8 }, (_, at) => `a_rather_long_name_${at}`)
    const wide = {
      columns,
      numeric: columns.map(() => false),
      rows: [columns.map((_, at) => `${at} ${'x'.repeat(100)}`)],
    }
    expect(fittingFormat(wide, 80)).toBe('record')
    const text = answerText(wide, { format: 'record', width: 80 })
    expect(text).toContain(`── 1 of 1\na_rather_long_name_0  0 ${'x'.repeat(100)}\n`)
    expect(text).toMatch(/\n1 row\n$/)
    const narrow = { ...wide, columns: columns.slice(0, 2), rows: [['a', 'b']] }
    expect(fittingFormat(narrow, 34)).toBe('table')
    expect(answerTable(narrow, 34)).toContain('a_rather_long_n…')
    expect(answerText({ ...wide, rows: [] }, { format: 'record', width: 80 })).toBe('0 rows\n')
  })

  it('says what the columns of a table mean, and which tables there are, without asking any', async () => {
    const { code, stdout } = await cliHere(['query', '--columns', 'sessions_current', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toContainEqual({ column: 'session_id', type: 'string', meaning: expect.any(String) })
    const unknown = await cliHere(['query', '--columns', 'sesions'])
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('organization_users')])
    expect((await cliHere(['query', '--columns', 'sessions', 'select 1'])).code).toBe(2)
    expect((await cliHere(['query'])).code).toBe(2)
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
