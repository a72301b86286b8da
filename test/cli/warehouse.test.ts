import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cliHere, temporaryFolder } from './cli.ts'

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
    ['another warehouse than DuckDB to run it in', ['--for', 'postgres', '--run', 'x'], '--run is for'],
    ['a watermark beside that of the file', ['--for', 'duckdb', '--run', 'x', '--after', '2026'], 'without --after'],
    ['a folder that a service can not read', ['--for', 'bigquery'], "can't read a folder"],
    ['a table that is none', ['--for', 'duckdb', 'session'], 'There is no table "session". The tables are:'],
    ['a schema with more than a name', ['--for', 'duckdb', '--schema', 'a; drop'], 'must be letters'],
    ['no warehouse', [], '--for'],
  ])('refuses %s', async (_, args, words) => {
    const { code, stderr } = await cliHere(['warehouse', 'load', ...args, ...local])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) })
  })

  it('refuses a file that is no database', async () => {
    const { code, stderr } = await cliHere(['warehouse', 'load', '--for', 'duckdb', '--run', folder.path, ...local])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`${folder.path} can't be written`) })
  })
})
