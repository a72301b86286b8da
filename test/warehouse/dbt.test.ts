import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { dbtFolder } from '../../lib/cli/docs.ts'
import { currentName } from '../../lib/streams/current.ts'
import { streams } from '../../lib/streams/index.ts'
import { tablesOf } from '../../lib/streams/stream.ts'
import { columnsOf } from '../../lib/streams/table.ts'
import { dbtPackage } from '../../lib/warehouse/dbt/package.ts'
import { temporaryFolder } from '../cli/cli.ts'
import { faultsOf, gapsOf, modelStatements, rendered } from '../support/tables/dbt-models.ts'
import { changesOfRuns, createDuckDbFeed, createNights, tablesOfNights } from '../support/tables/warehouse-nights.ts'

const files = dbtPackage(streams)
const folder = temporaryFolder()
afterAll(() => folder.remove())

type Described = { name: string; description: string; columns?: Described[]; data_tests?: string[] }
type Properties = { sources?: { name: string; tables: Described[] }[]; models?: Described[] }

describe('the dbt package', () => {
  it('is what the declarations say, and nothing else', () => {
    const paths = readdirSync(dbtFolder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(dbtFolder.pathname.length))
    expect(paths.sort()).toEqual([...files.keys()].sort())
    const stale = paths.filter((path) => readFileSync(new URL(path, dbtFolder), 'utf8') !== files.get(path))
    expect(stale, 'dbt/ is out of date: run `npm run docs`').toEqual([])
  })

  it('describes each table and column, and each of its models', () => {
    const { sources = [] } = parse(files.get('models/sources.yml') ?? '') as Properties
    const { models = [] } = parse(files.get('models/models.yml') ?? '') as Properties
    const tables = streams.flatMap(tablesOf)
    expect(sources.map(({ name }) => name)).toEqual(['platform_sync', 'platform_sync_runs'])
    for (const table of tables) {
      const found = sources[0]?.tables.find(({ name }) => name === table.name)
      expect(found?.description).toBe(table.doc)
      expect(found?.columns).toMatchObject(columnsOf(table).map(({ name, doc }) => ({ name, description: doc })))
      const model = models.find(({ name }) => name === currentName(table))
      const required = model?.columns?.filter(({ data_tests = [] }) => data_tests.includes('not_null'))
      expect(required?.map(({ name }) => name).sort()).toEqual([...table.key].sort())
    }
    const made = [...files.keys()].flatMap((path) => /^models\/(?:.*\/)?(\w+)\.sql$/.exec(path)?.[1] ?? [])
    expect(models.map(({ name }) => name).sort()).toEqual(made.sort())
    expect(JSON.stringify(parse(files.get('dbt_project.yml') ?? ''))).toContain('platform_sync_hours')
  })

  it('uses nothing of dbt but sources, models and its own word for the time', () => {
    for (const path of files.keys()) {
      if (/^(models|tests)\/.*\.sql$/.test(path) && path !== 'tests/last_night_is_in.sql') {
        expect([path, rendered(path)]).toEqual([path, expect.not.stringMatching(/\{[{%]/)])
      }
    }
  })
})

describe('its models in DuckDB, over all versions that were loaded', () => {
  const nights = createNights()
  const feed = createDuckDbFeed({ ...nights, database: join(folder.path, 'history.duckdb'), history: true })
  let current: Map<string, string[]>
  beforeAll(async () => {
    for (let night = 0; night < 9; night++) {
      await nights.next()
      if (night % 4 === 1) await feed.load()
    }
    for (let times = 0; times < 2; times++) {
      await feed.load()
      await feed.forgetHistory()
    }
    await feed.load()
    await feed.inDatabase(async (ask) => {
      for (const sql of modelStatements(tablesOfNights)) await ask(sql)
    })
    current = await nights.current()
  })

  it('have each version once, and what the lake has now', async () => {
    for (const { name } of tablesOfNights) {
      const count = `select count(*) from `
      const { rows } = await nights.ask(`${count} ${name}`)
      expect((await feed.inDatabase((ask) => ask(`${count} feed.${name}`))).map(String)).toEqual(rows.map(String))
    }
    expect(await feed.current('models')).toEqual(current)
  })

  it('have keys that are unique, and periods without overlap or gap', async () => {
    await feed.inDatabase(async (ask) => {
      for (const sql of faultsOf(tablesOfNights)) expect([sql, await ask(sql)]).toEqual([sql, []])
      for (const table of tablesOfNights.filter(({ key }) => key.length === 1)) {
        expect(await ask(gapsOf(table))).toEqual([])
        const [[versions, ended]] = (await ask(
          `select count(*), count(valid_to) from models.${table.name}_history`,
        )) as [[bigint, bigint]]
        expect(versions).toBeGreaterThan(ended)
        expect(ended).toBeGreaterThan(3n)
      }
    })
  })

  it('know how fresh each stream is', async () => {
    const { rows } = await nights.ask('select stream, max(complete_at) from _runs group by stream order by stream')
    const fresh = 'select stream, complete_at from models.stream_freshness order by stream'
    const found = await feed.inDatabase((ask) => ask(fresh))
    expect(found.map(([stream]) => stream)).toEqual(rows.map(([stream]) => stream))
    expect((await feed.inDatabase((ask) => ask(changesOfRuns('feed')))).length).toBe(18)
  })
})
