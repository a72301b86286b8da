import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { cliHere, temporaryFolder } from '../cli/cli.ts'
import { createRunFeed } from '../support/tables/postgres-feeds.ts'
import { servePostgres } from '../support/tables/postgres-server.ts'
import { createNights } from '../support/tables/warehouse-nights.ts'

const folder = temporaryFolder()
const local = ['--local', join(folder.path, 'unused')]
const secret = 'hunter2-and-more'

let postgres: PGlite
let server: Awaited<ReturnType<typeof servePostgres>>
beforeAll(async () => {
  postgres = await PGlite.create()
})
beforeEach(async () => {
  server = await servePostgres(postgres)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await server.close()
  await postgres.exec('reset role; reset search_path; drop schema if exists platform_sync cascade')
})
afterAll(async () => {
  folder.remove()
  await postgres.close()
})

/** Runs the command as a person does, against a server on loopback. */
async function load(where: readonly string[], more: readonly string[] = []) {
  const ended = await cliHere(['warehouse', 'load', '--for', 'postgres', ...more, ...local, '--run', ...where])
  await server.idle()
  return ended
}

describe('warehouse load --for postgres --run', () => {
  it('connects as PG* variables say, makes the tables, and says that nothing is published', async () => {
    server.faults.password = secret
    for (const [name, value] of Object.entries({ HOST: '127.0.0.1', PORT: `${server.port}`, USER: 'postgres' })) {
      vi.stubEnv(`PG${name}`, value)
    }
    vi.stubEnv('PGPASSWORD', secret)
    expect(await load([])).toMatchObject({ code: 0, stdout: 'Nothing is published that is not loaded.\n' })
    expect((await postgres.query('select * from platform_sync.sessions_current')).rows).toEqual([])
    const { stdout } = await load(['postgres', '--json'])
    expect(JSON.parse(stdout)).toEqual({ database: `postgres at 127.0.0.1:${server.port}`, loaded: [] })
  })

  it.each([['--json'], ['--verbose'], ['--local']])('never tells a password (%s)', async (option) => {
    const address = `postgres://postgres:${secret}@127.0.0.1:${server.port}/postgres`
    const more = option === '--local' ? [] : [option]
    const wrong = async () => {
      server.faults.password = 'another one'
      return load([address], more)
    }
    const answers = [
      await load([address], more),
      await wrong(),
      await load([address.replace('postgres://', 'pg://')], more),
    ]
    answers.push(await load([address.replace('127.0.0.1', '127.0.0.1:x')], more))
    expect(answers.map(({ code }) => code)).toEqual([0, 1, 2, 2])
    for (const { stdout, stderr } of answers) expect(stdout + stderr).not.toContain(secret)
    expect(answers[1]?.stderr).toMatch(/did not let in the user postgres \(28P01: .*\): set PGUSER and PGPASSWORD/)
    expect(answers[3]?.stderr).toContain('--run takes the name of a database')
  })

  it('says that a server asks for a password where there is none', async () => {
    server.faults.password = secret
    expect(await load([server.address])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/did not let in the user postgres \(.*\): set PGUSER and PGPASSWORD/),
    })
  })

  it('tells who may not make a schema what to do, and loads into one that is theirs', async () => {
    await postgres.exec('create role loader; set role loader')
    expect(await load([server.address])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/may not load into postgres \(42501: .*\): let it own the schema and its tables/),
    })
    await postgres.exec('reset role; create schema platform_sync authorization loader; set role loader')
    expect(await load([server.address])).toMatchObject({ code: 0 })
  })

  it('refuses a version without MERGE, and a second load at a time', async () => {
    await postgres.exec(`create schema fake; set search_path = fake, pg_catalog;
      create function fake.pg_try_advisory_lock(integer) returns boolean language sql as 'select false'`)
    expect(await load([server.address])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /Another load works in the schema platform_sync .*: load again when it has ended\.\n$/,
      ),
    })
    await postgres.exec(`create function fake.current_setting(text) returns text language sql as 'select ''80002'''`)
    expect(await load([server.address])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a load needs PostgreSQL 15 or later'),
    })
    await postgres.exec('drop schema fake cascade')
  })

  it('tells what to do when a table lacks a column', async () => {
    expect(await load([server.address], ['computers'])).toMatchObject({ code: 0 })
    await postgres.exec('alter table platform_sync.computers_newest drop column hostname cascade')
    expect(await load([server.address], ['computers'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has other columns than this version loads (42703: '),
    })
  })

  it('ends as if nothing had happened, whatever statement a run broke off at', async () => {
    const nights = createNights()
    const feed = createRunFeed('broken', { ...nights, postgres, server })
    for (let night = 0; night < 3; night++) await nights.next()
    await feed.load()
    const [expected, runs] = [await feed.current(), await feed.runs()]
    let statements = 0
    for (let isWhole = false; !isWhole; statements++) {
      await postgres.exec('drop schema broken cascade')
      server.faults.hangsUpAt = statements
      isWhole = await feed.load().then(
        () => true,
        (error) => {
          expect(error.message).toMatch(/was lost: load again/)
          return false
        },
      )
      delete server.faults.hangsUpAt
      await feed.load()
      expect(await feed.current()).toEqual(expected)
      expect(await feed.runs()).toEqual(runs)
    }
    expect(statements).toBeGreaterThan(30)
  })

  it('stops between two statements at Ctrl-C, and loads the rest the next time', async () => {
    const nights = createNights()
    const feed = createRunFeed('stopped', { ...nights, postgres, server })
    for (let night = 0; night < 3; night++) await nights.next()
    const interruption = new AbortController()
    const ran: string[] = []
    server.faults.before = (_, sql) => {
      ran.push(sql)
      if (sql.startsWith('merge into stopped.computers_newest')) interruption.abort()
    }
    await expect(feed.load(interruption.signal)).rejects.toThrow(/abort/)
    delete server.faults.before
    expect(ran.at(-1)).toMatch(/^merge into stopped.computers_newest/)
    const known = await postgres.query('select distinct table_name from stopped.loads')
    expect(known.rows).toEqual([{ table_name: 'organization_users' }])
    expect((await feed.load()).map(({ table }) => table)).toEqual(['computers'])
    const once = createRunFeed('stopped_not', { ...nights, postgres, server })
    await once.load()
    expect(await feed.current()).toEqual(await once.current())
  })

  it('quotes no value of a row that the database refuses, and tells what is wrong with the lake as it is', async () => {
    const nights = createNights()
    await nights.next()
    const run = (lake: typeof nights.lake) => createRunFeed('platform_sync', { lake, postgres, server }).load()
    const { objects } = nights.lake
    const damaged = { ...nights.lake, objects: { ...objects, get: async () => null } }
    await expect(run(damaged)).rejects.toThrow(/^The object .* is gone/)
    // A column that can't take what is in the lake.
    await postgres.exec(`alter table platform_sync.organization_users_newest
      add check (email is null or length(email::integer::text) = 0)`)
    await expect(run(nights.lake)).rejects.toThrow(/^PostgreSQL at .* can't hold a value of the lake \(22P02\): [^@]*$/)
  })
})
