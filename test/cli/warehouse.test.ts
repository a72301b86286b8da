import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cliHere, cliIn, temporaryFolder } from './cli.ts'

const folder = temporaryFolder()
const local = ['--local', join(folder.path, 'unused')]
afterAll(() => folder.remove())

describe('platform-sync warehouse', () => {
  it('prints the tables of a warehouse, those that are named', async () => {
    const { code, stdout } = await cliHere([
      'warehouse',
      'ddl',
      '--for',
      'snowflake',
      '--schema',
      'lake.feed',
      'session_tags',
    ])
    expect(code).toBe(0)
    expect(stdout).toContain('create table if not exists lake.feed.sessions_newest (')
    expect(stdout).toContain("  _op varchar comment 'upsert (the row is as given)")
    expect(stdout).toContain('create or replace view lake.feed.session_tags_current as\nselect session_id,')
    expect(stdout).not.toContain('computers_newest')
  })

  it('makes a DuckDB file from a folder that has nothing yet, and says that nothing is published', async () => {
    const file = join(folder.path, 'feed.duckdb')
    const args = ['warehouse', 'load', '--for', 'duckdb', '--run', file, ...local, 'computers']
    expect(await cliHere(args)).toEqual({
      code: 0,
      stdout: 'Nothing is published that is not loaded.\n',
      stderr: expect.stringMatching(/^.*unused does not exist: nothing was synced into it\.\n$/),
    })
    expect(existsSync(file)).toBe(true)
    expect(JSON.parse((await cliHere([...args, '--json'])).stdout)).toEqual({ database: file, loaded: [] })
  })

  it.each([
    ['a warehouse that it can not run in', ['--for', 'snowflake', '--run', 'x'], '--run is for duckdb and postgres'],
    ['no file to run it in', ['--for', 'duckdb', '--run'], 'takes a file'],
    ['a place that is no PostgreSQL', ['--for', 'postgres', '--run', 'mysql://h/d'], '--run takes the name of a'],
    ['keywords of a place', ['--for', 'postgres', '--run', 'host=h dbname=d'], '--run takes the name of a'],
    ['a watermark beside that of the file', ['--for', 'duckdb', '--run', 'x', '--after', '2026'], 'without --after'],
    ['a folder that a service can not read', ['--for', 'bigquery'], "can't read a folder"],
    ['a table that is none', ['--for', 'duckdb', 'session'], 'There is no table "session". The tables are:'],
    ['a schema with more than a name', ['--for', 'duckdb', '--schema', 'a; drop'], 'must be letters'],
    ['no warehouse', [], '--for'],
  ])('refuses %s', async (_, args, words) => {
    const { code, stderr } = await cliHere(['warehouse', 'load', ...args, ...local])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) })
  })

  it.each([
    { who: 'nobody', greeting: null, code: 1, words: /^No PostgreSQL server answers at .* \(ECONNREFUSED\): start it/ },
    { who: 'HTTP', greeting: 'HTTP/1.1 400 Bad Request\r\n\r\n', code: 2, words: /^What answers at .* does not speak/ },
    {
      who: 'MySQL',
      greeting: '\x4a\0\0\0\x0a8'.padEnd(80, '\0'),
      code: 2,
      words: /^What answers at .* does not speak/,
    },
  ])('tells what to do where $who answers', async ({ greeting, code, words }) => {
    const other = createServer((socket) => {
      socket.on('error', () => {}).resume()
      socket.write(`${greeting}`)
      // One of MySQL waits for an answer.
      if (`${greeting}`.startsWith('HTTP')) socket.end()
    })
    await once(other.listen(0, '127.0.0.1'), 'listening')
    const { port } = other.address() as AddressInfo
    if (greeting === null) await new Promise((resolve) => other.close(resolve))
    const address = `postgres://someone@127.0.0.1:${port}/feed`
    const ended = await cliHere(['warehouse', 'load', '--for', 'postgres', ...local, '--run', address])
    const told = ended.stderr.split('\n').slice(1).join('\n')
    expect({ code: ended.code, told }).toEqual({ code, told: expect.stringMatching(words) })
    other.close()
  })

  it('asks for a user where none is named, and the machine names none', async () => {
    const { run } = cliIn(folder.path)
    const { code, stderr } = await run(['warehouse', 'load', '--for', 'postgres', ...local, '--run', 'feed'])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('No user is named for PostgreSQL: set'),
    })
  })

  it('refuses a file that is no database', async () => {
    const { code, stderr } = await cliHere(['warehouse', 'load', '--for', 'duckdb', '--run', folder.path, ...local])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`${folder.path} can't be written`) })
  })
})
