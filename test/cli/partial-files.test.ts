import { randomBytes } from 'node:crypto'
import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, it } from 'vitest'
import { openLakeDatabase } from '../../lib/cli/lake-database.ts'
import type { PublishedLake } from '../../lib/cli/lake-files.ts'
import { columnsIn } from '../../lib/cli/question-columns.ts'
import { currentFiles } from '../../lib/publish/iceberg/current-files.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { createTablesWorld } from '../support/tables/tables-world.ts'
import { session } from '../sync/support/source.ts'

const duckdb = await (await DuckDBInstance.create(':memory:')).connect()

describe('the columns that a question names', () => {
  it.each([
    ['select status, count(*) from a group by all', ['status']],
    ['select a.x, b."Y" from a join b using (z) where lower(q) = 1', ['q', 'x', 'y', 'z']],
    ['select (select max(k) from b) from a as o where o.m > 1', ['k', 'm', 'o']],
    [
      'select sum(x) over (partition by y order by z) from a qualify row_number() over (order by k) = 1',
      ['k', 'x', 'y', 'z'],
    ],
    ['select count(*) from a', []],
  ])('are told by the parser: %s', async (sql, wanted) => {
    const found = await columnsIn(duckdb, sql)
    const unqualified = [...(found ?? ['all'])].filter((name) => !['a', 'b', 'o'].includes(name))
    expect(unqualified.toSorted()).toEqual(wanted.filter((name) => name !== 'o'))
  })

  it.each([
    'from a',
    'select a.* from a',
    'select s from a as s',
    'select #1 from a',
    'select x from a natural join b',
    "select columns('x.*') from a",
    'select p from a as t(p, q)',
    'summarize a',
    'pivot a on x using sum(y)',
    'select x from a order by all',
  ])('are all where others may be meant: %s', async (sql) => {
    expect(await columnsIn(duckdb, sql)).toBeNull()
  })
})

describe('a question about few columns', () => {
  it('reads what they need of a large file, and is answered as from the whole', async () => {
    const world = createTablesWorld()
    // Titles that don't pack: the file is larger than what is read of its end.
    const titled = Array.from({ length: 300 }, (_, n) => session(n, { title: randomBytes(750).toString('base64') }))
    await world.night([[sessions, titled]])
    let bytes = 0
    const counted = (part: Uint8Array | null) => {
      bytes += part?.byteLength ?? 0
      return part
    }
    const from: PublishedLake = {
      lake: world.lake,
      objects: {
        get: async (key) => counted(await world.objects.get(key)),
        list: (prefix) => world.objects.list(prefix),
        getRange: async (key, from, to) => counted(await world.objects.getRange(key, from, to)),
      },
      currentFiles: (of) => currentFiles(of, world.icebergDeps()),
    }
    const answer = async (sql: string) => {
      bytes = 0
      const database = await openLakeDatabase(from, sql)
      const rows = (await database.connection.runAndReadAll(sql)).getRowsJson()
      await database.close()
      return { rows, bytes }
    }
    const few = await answer(
      'select status, count(*)::int as n, min(session_id) as first from sessions_current group by all',
    )
    expect(few.rows).toEqual([['idle', 300, 's0']])
    expect((await answer('select count(*)::int from sessions_current')).rows).toEqual([[300]])
    const whole = await answer('select count(distinct title)::int, count(*)::int from (select * from sessions_current)')
    expect(whole.rows).toEqual([[300, 300]])
    expect(few.bytes).toBeLessThan(whole.bytes / 2)
    const titles = await answer('select count(distinct title)::int from sessions_current')
    expect(titles.rows).toEqual([[300]])
  })

  it('that is wrong is told with all columns in view', async () => {
    const world = createTablesWorld()
    await world.night([[sessions, [session(1)]]])
    const from = {
      lake: world.lake,
      objects: world.objects,
      currentFiles: (of: Parameters<typeof currentFiles>[0]) => currentFiles(of, world.icebergDeps()),
    }
    const database = await openLakeDatabase(from, 'select statu from sessions_current')
    await expect(database.connection.run('select statu from sessions_current')).rejects.toThrow('"status"')
    await database.close()
  })
})
