import { DuckDBInstance } from '@duckdb/node-api'
import { expect, it } from 'vitest'
import { currentName, currentQuery } from '../../lib/streams/current.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { columnsOf, type Table } from '../../lib/streams/table.ts'

const sqlTypes = {
  string: 'varchar',
  int64: 'bigint',
  double: 'double',
  boolean: 'boolean',
  timestamp: 'timestamp',
  json: 'varchar',
}

it('shows of each session the newest version with its tags, and none that are gone', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const tables = sessions.tables as readonly Table[]
  for (const table of tables) {
    const columns = columnsOf(table).map(({ name, type }) => `${name} ${sqlTypes[type]}`)
    await connection.run(`create table ${table.name} (${columns.join(', ')})`)
    await connection.run(`create view ${currentName(table)} as ${currentQuery(sessions, table)}`)
  }
  const insert = async (table: string, row: Record<string, string | number>) => {
    const values = Object.values(row).map((value) => (typeof value === 'number' ? value : `'${value}'`))
    await connection.run(`insert into ${table} (${Object.keys(row).join(', ')}) values (${values.join(', ')})`)
  }
  const version = (scan: number, sequence: number, op = 'upsert') => ({
    _op: op,
    _scan_id: `scan-${scan}`,
    _sequence: sequence,
    _synced_at: `2026-01-0${scan} 00:00:00`,
  })
  // a: changed in the same scan and again in the next, where it lost a tag. b: gone. c: gone and back.
  await insert('sessions', { session_id: 'a', title: 'a1', ...version(1, 0) })
  await insert('sessions', { session_id: 'a', title: 'a2', ...version(1, 10) })
  await insert('sessions', { session_id: 'a', title: 'a3', ...version(2, 0) })
  await insert('session_tags', { session_id: 'a', position: 0, name: 'old', ...version(1, 10) })
  await insert('session_tags', { session_id: 'a', position: 1, name: 'old', ...version(1, 10) })
  await insert('session_tags', { session_id: 'a', position: 0, name: 'new', ...version(2, 0) })
  await insert('sessions', { session_id: 'b', title: 'b1', ...version(1, 2) })
  await insert('session_tags', { session_id: 'b', position: 0, name: 'of b', ...version(1, 2) })
  await insert('sessions', { session_id: 'b', ...version(2, 1, 'delete') })
  await insert('sessions', { session_id: 'c', title: 'c1', ...version(1, 3) })
  await insert('sessions', { session_id: 'c', ...version(2, 1, 'delete') })
  await insert('sessions', { session_id: 'c', title: 'c2', ...version(3, 0) })

  const rowsOf = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson()
  expect(await rowsOf('select session_id, title from sessions_current order by 1')).toEqual([
    ['a', 'a3'],
    ['c', 'c2'],
  ])
  expect(await rowsOf('select session_id, position, name from session_tags_current')).toEqual([['a', '0', 'new']])
  expect((await connection.runAndReadAll('select * from sessions_current')).columnNames()).toEqual(
    columnsOf(tables[0]!).map(({ name }) => name),
  )
  connection.closeSync()
})
