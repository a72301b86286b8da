import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rowLines, scriptOf } from '../../lib/cli/warehouse-script.ts'
import { openFile } from '../../lib/stores/row-files.ts'
import { computers } from '../../lib/streams/computers.ts'
import { identifiedColumnsOf } from '../../lib/streams/field-ids.ts'
import { groupsOf } from '../../lib/warehouse/groups.ts'
import { tableStatements } from '../../lib/warehouse/tables.ts'
import { targets } from '../../lib/warehouse/targets.ts'
import { temporaryFolder } from '../cli/cli.ts'
import {
  changesOfRuns,
  createDuckDbFeed,
  createNights,
  groupsOfNights,
  tablesOfNights,
} from '../support/tables/warehouse-nights.ts'

const folder = temporaryFolder()
const nights = createNights()
const groups = groupsOfNights
const { signal } = new AbortController()
const missed = createDuckDbFeed({ ...nights, database: join(folder.path, 'missed.duckdb') })
const turned = createDuckDbFeed({ ...nights, database: join(folder.path, 'turned.duckdb') })

afterAll(() => folder.remove())

describe('a DuckDB file that loads the lake', () => {
  const runs: string[] = []
  let expected: Map<string, string[]>
  beforeAll(async () => {
    for (let night = 0; night < 8; night++) {
      await nights.next()
      if (night === 1 || night === 7) await missed.load()
    }
    runs.push(...new Set((await nights.lake.lake.readFiles()).map(({ runId }) => runId)))
    expected = await nights.current()
  })

  it('has what the lake has, after nights that it missed', async () => {
    expect(runs).toHaveLength(8)
    for (const rows of expected.values()) expect(rows.length).toBeGreaterThan(3)
    expect(await missed.current()).toEqual(expected)
  })

  it('loads nothing twice, and has the same when it does, in a table that lacked a column', async () => {
    expect(await missed.load()).toEqual([])
    await missed.inDatabase((ask) => ask('alter table feed.computers_newest drop column hostname'))
    await missed.forget()
    const loaded = await missed.load()
    expect(loaded.map(({ table }) => table)).toEqual(['organization_users', 'computers'])
    expect(await missed.current()).toEqual(expected)
  })

  it('brings nothing back that was deleted, when nights come out of order', async () => {
    await turned.load(runs.slice(5))
    await turned.load(runs.slice(2, 5))
    await turned.load()
    await turned.forget()
    await turned.load(runs.slice(0, 3))
    expect(await turned.current()).toEqual(expected)
  })

  it('has each run once, with what it changed', async () => {
    const { rows } = await nights.ask(changesOfRuns('main'))
    expect(new Set(rows.map(([run]) => run)).size).toBe(8)
    expect(rows).toHaveLength(16)
    const loadedRows = await missed.inDatabase((ask) => ask(changesOfRuns('feed')))
    expect(loadedRows.map(String)).toEqual(rows.map(String))
  })

  it('has rows of the newest versions alone, and knows the publications that it loaded', async () => {
    await missed.inDatabase(async (ask) => {
      expect(await ask('select count(*) - count(distinct id) from feed.computers_newest')).toEqual([[0n]])
      const marks = await ask("select run_id from feed.loads where table_name = 'computers' order by published_at")
      expect(marks.flat()).toEqual(runs)
      expect(
        await ask("select comment from duckdb_columns() where column_name = '_op' and table_name = 'computers_newest'"),
      ).toEqual([[expect.stringContaining('upsert')]])
    })
  })
})

describe('SQL for warehouses', () => {
  it.each(Object.entries(targets))(
    'of %s names all columns, and files after the watermark alone',
    async (_, dialect) => {
      const files = await nights.lake.lake.readFiles()
      const times = files.map(({ publishedAt }) => publishedAt).toSorted()
      const asked = { place: { dialect, schema: 'feed' }, groups, runs: true, signal }
      const ddl = tableStatements(asked.place, groups).join('\n')
      for (const { columns, name } of tablesOfNights) {
        expect(ddl).toContain(`feed.${name}_newest`)
        for (const column of columns) expect(ddl).toContain(`  ${column.name} ${dialect.types[column.type]}`)
      }
      const script = async (after: string) => {
        let text = ''
        for await (const piece of scriptOf(nights.lake, { ...asked, after })) text += piece
        return text
      }
      const whole = await script('')
      const newest = await script(times.findLast((time) => time !== times.at(-1)) ?? '')
      for (const { runId } of files) expect(whole).toContain(`'${runId}' as run_id`)
      expect(newest).toContain(`'${files.at(-1)?.runId}' as run_id`)
      expect(newest).not.toContain(`'${files[0]?.runId}' as run_id`)
      expect(await script(times.at(-1) ?? '')).not.toContain('insert into feed.loads')
      // A script that was cut off marks nothing, so that the next one has all of it again.
      expect(whole.indexOf('insert into feed.loads')).toBeGreaterThan(whole.lastIndexOf('merge into'))
    },
  )

  it('hands rows on in pieces of bounded length, however many a file has', async () => {
    const column = identifiedColumnsOf(computers.tables[0]).find(({ name }) => name === 'id')
    const columns = column ? [column] : []
    const file = openFile({ name: 'wide', key: ['id'] }, columns)
    const long = 'x'.repeat(1_000)
    file.add([Array.from({ length: 5_000 }, () => long)])
    const bytes = file.finish()
    const lengths: number[] = []
    for await (const { length } of rowLines({ columns, files: ['one', 'two'], signal }, async () => bytes)) {
      lengths.push(length)
    }
    expect(lengths.reduce((sum, length) => sum + length)).toBe(2 * 5_000 * 1_001)
    expect(Math.max(...lengths)).toBeLessThan(1_002_000)
  })

  it('brings a nested table with its main one, and refuses a name that is none', () => {
    expect(
      groupsOf(['session_tags']).map(({ main, nested }) => [main.name, ...nested.map(({ name }) => name)]),
    ).toEqual([['sessions', 'session_tags']])
    expect(() => groupsOf(['session'])).toThrow(expect.objectContaining({ code: 'usage' }))
  })
})
