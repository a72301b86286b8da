import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scriptOf } from '../../lib/cli/warehouse-script.ts'
import type { Dialect } from '../../lib/warehouse/dialect.ts'
import { runsTableStatements } from '../../lib/warehouse/runs.ts'
import { loadsName, tableStatements } from '../../lib/warehouse/tables.ts'
import { targets } from '../../lib/warehouse/targets.ts'
import { temporaryFolder } from '../cli/cli.ts'
import { faultsOf, gapsOf, modelStatements } from '../support/tables/dbt-models.ts'
import { createRunFeed, readerOf } from '../support/tables/postgres-feeds.ts'
import { servePostgres } from '../support/tables/postgres-server.ts'
import {
  changesOfRuns,
  createDuckDbFeed,
  createNights,
  groupsOfNights as groups,
  tablesOfNights,
} from '../support/tables/warehouse-nights.ts'

const folder = temporaryFolder()
const { signal } = new AbortController()

let postgres: PGlite
let server: Awaited<ReturnType<typeof servePostgres>>
beforeAll(async () => {
  postgres = await PGlite.create()
  server = await servePostgres(postgres)
})
afterAll(async () => {
  folder.remove()
  await server.close()
  await postgres.close()
})

/** Redshift's statements as far as PostgreSQL knows them: all but the types of JSON, and where rows come from. */
const redshiftHere: Dialect = { ...targets.redshift, fill: targets.postgres.fill, inlineRows: true }
const redshiftWords = `create domain super as json;
  create function json_parse(value varchar) returns json language sql as 'select value::json';`

/** A schema of its own for each way to load. */
async function createFeed(
  schema: string,
  nights: ReturnType<typeof createNights>,
  { dialect = targets.postgres, history = false }: { dialect?: Dialect; history?: boolean } = {},
) {
  const place = { dialect, schema, history }
  const loads = loadsName(place)
  for (const sql of [...tableStatements(place, groups), ...runsTableStatements(place)]) await postgres.exec(sql)
  return {
    /** Loads what was published after what the schema says, or what is given. */
    load: async (after?: string) => {
      const known = await postgres.query<{ at: string }>(`select coalesce(max(published_at), '') as at from ${loads}`)
      await runByPsql(
        scriptOf(nights.lake, { ...{ place, groups, runs: true }, after: after ?? known.rows[0]?.at ?? '', signal }),
      )
    },
    ...readerOf(postgres, schema),
  }
}

/** Does with a script what psql does: rows behind `copy ... from stdin` go where that says, until a line `\.`. */
async function runByPsql(script: AsyncIterable<string> | readonly string[]): Promise<void> {
  let text = ''
  for await (const piece of script) text += piece
  const pieces = text.split(/^(copy [^\n]* from stdin);\n([\s\S]*?)^\\\.\n/m)
  for (let at = 0; at < pieces.length; at += 3) {
    const [statements = '', copy, rows = ''] = pieces.slice(at, at + 3)
    await postgres.exec(statements.replace(/^\\set .*\n/m, ''))
    if (copy) await postgres.query(copy.replace('from stdin', "from '/dev/blob'"), [], { blob: new Blob([rows]) })
  }
}

describe('PostgreSQL and DuckDB that load the lake', () => {
  it('have what the lake has after 30 nights, loaded each night, twice, after a missed week or all at once', async () => {
    const nights = createNights()
    const nightly = await createFeed('nightly', nights)
    const twice = await createFeed('twice', nights)
    const missed = await createFeed('missed', nights)
    const once = await createFeed('once', nights)
    await postgres.exec(redshiftWords)
    const redshift = await createFeed('redshift', nights, { dialect: redshiftHere })
    const run = createRunFeed('run', { ...nights, postgres, server })
    const runMissed = createRunFeed('run_missed', { ...nights, postgres, server })
    const runBroken = createRunFeed('run_broken', { ...nights, postgres, server })
    const duckdb = createDuckDbFeed({ ...nights, database: join(folder.path, 'nightly.duckdb') })
    for (let night = 0; night < 30; night++) {
      await nights.next()
      await nightly.load()
      await duckdb.load()
      if (night % 5 === 4) await redshift.load(night % 2 ? '' : undefined)
      if (night % 9 === 0) await twice.load('')
      if (night < 12 || night > 18) await missed.load()
      await run.load()
      if (night < 12 || night > 18) await runMissed.load()
      server.faults.hangsUpAt = 2 + ((night * 7) % 30)
      await expect(runBroken.load()).rejects.toMatchObject({ code: 'unreachable' })
      delete server.faults.hangsUpAt
    }
    expect(await run.load()).toEqual([])
    await runBroken.load()
    for (let times = 0; times < 2; times++) await twice.load('')
    await once.load()
    const current = await nights.current()
    expect(await duckdb.current()).toEqual(current)
    const expected = new Map<string, string[]>()
    for (const [name, rows] of current) {
      expect(rows.length).toBeGreaterThan(3)
      // No text of PostgreSQL holds U+0000.
      expected.set(name, rows.map((row) => row.replaceAll('\0', '\uFFFD')).toSorted())
    }
    const runs = (await nights.ask(changesOfRuns('main'))).rows.map(String)
    expect(runs).toHaveLength(60)
    for (const feed of [nightly, twice, missed, once, redshift, run, runMissed, runBroken]) {
      expect(await feed.current()).toEqual(expected)
      expect(await feed.runs()).toEqual(runs)
    }
  })

  it('take an older night after a newer one, and bring nothing back that was deleted', async () => {
    const nights = createNights()
    const feed = await createFeed('turned', nights)
    for (let night = 0; night < 4; night++) await nights.next()
    const first: string[] = []
    const place = { dialect: targets.postgres, schema: 'turned' }
    for await (const piece of scriptOf(nights.lake, { ...{ place, groups, runs: true }, after: '', signal }))
      first.push(piece)
    for (let night = 0; night < 4; night++) await nights.next()
    await feed.load('')
    const before = await feed.current()
    await runByPsql(first)
    expect(await feed.current()).toEqual(before)
  })

  it('have models of dbt that agree with the lake, over all versions', async () => {
    const nights = createNights()
    const feed = await createFeed('feed', nights, { history: true })
    for (let night = 0; night < 8; night++) {
      await nights.next()
      await feed.load(night % 3 === 2 ? '' : undefined)
    }
    for (const sql of modelStatements(tablesOfNights)) await postgres.exec(sql)
    const faults = [...faultsOf(tablesOfNights), ...tablesOfNights.filter(({ key }) => key.length === 1).map(gapsOf)]
    for (const sql of faults) expect([sql, (await postgres.query(sql)).rows]).toEqual([sql, []])
    const expected = [...(await nights.current())].map(([name, rows]) => {
      return [name, rows.map((row) => row.replaceAll('\0', '\uFFFD')).toSorted()] as const
    })
    expect(await feed.current('models')).toEqual(new Map(expected))
  })

  it('give an element of a list a row, as the docs say', async () => {
    const manual = readFileSync(new URL('../../docs/warehouse.md', import.meta.url), 'utf8')
    const statement = /-- PostgreSQL, loaded\n([^`]*)```/.exec(manual)?.[1] ?? ''
    await postgres.exec(`create schema platform_sync; create view platform_sync.sessions_current as
      select 's' as session_id, '["read", "write"]'::json as enabled_tool_ids`)
    const rows = [
      { session_id: 's', tool: 'read' },
      { session_id: 's', tool: 'write' },
    ]
    expect((await postgres.query(statement)).rows).toEqual(rows)
  })
})
