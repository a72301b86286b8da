import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '../../lib/core/hash.ts'
import type { RowGroup } from '../../lib/publish/iceberg/ports.ts'
import { createMerger, type FileLimits } from '../../lib/stores/merge-parts.ts'
import { openPart } from '../../lib/stores/part-rows.ts'
import { createPublishedLake } from '../../lib/stores/published-lake.ts'
import { rowFiles } from '../../lib/stores/row-files.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { type Cell, columnsOf, type Table } from '../../lib/streams/table.ts'
import type { PartFile } from '../../lib/sync/checkpoint.ts'
import type { RowBatch } from '../../lib/sync/ports.ts'
import { createMemoryObjects } from '../support/memory/objects.ts'
import { mergedFileContract } from './contracts/merged-file.ts'
import { pathOf, untroubled } from './samples.ts'

const table: Table = sessions.tables[0]
const columns = columnsOf(table)
const at = Date.UTC(2026, 4, 1, 12, 34, 56, 789)
const values = { string: 'x', json: '{"a":"é😀"}', int64: 2 ** 53 - 1, double: 1.5, boolean: false, timestamp: at }

/** A row with a value in every other column, and none in the rest. */
function rowOf(key: string, sequence: number): Cell[] {
  return columns.map(({ name, type }, i) => {
    if (name === 'session_id') return key
    if (name === '_sequence') return sequence
    return name.startsWith('_') || i % 2 === 0 ? values[type] : null
  })
}
function batchOf(rows: Cell[][]): RowBatch {
  return { table, columns: columns.map((_, i) => rows.map((row) => row[i]!)), rows: rows.length }
}

function rowsOf(groups: readonly RowGroup[]): string[] {
  return groups.flatMap((group) => (group[0] ?? []).map((_, row) => JSON.stringify(group.map((cells) => cells[row]))))
}

const generous: FileLimits = { rows: 1_000, bytes: 1e9, unpackedBytes: 1e9 }

function setup(limits = generous) {
  const objects = createMemoryObjects()
  const lake = createPublishedLake(objects)
  const part = (keys: string[], n: number) =>
    lake.writeRows(pathOf({ part: n }), batchOf(keys.map((key) => rowOf(key, n))), untroubled)
  const merge = (parts: PartFile[]) => createMerger(objects, limits).mergeParts(table, parts, untroubled)
  return { objects, part, merge }
}

describe('a file that was merged of parts', () => {
  const dir = mkdtempSync(join(tmpdir(), 'platform-sync-'))
  let duckdb: DuckDBConnection
  beforeAll(async () => {
    duckdb = await (await DuckDBInstance.create(':memory:')).connect()
    await duckdb.run("set timezone = 'UTC'")
  })
  afterAll(() => {
    duckdb.closeSync()
    rmSync(dir, { recursive: true, force: true })
  })
  const query = async (sql: string) => (await duckdb.runAndReadAll(sql)).getRowObjectsJson()
  const saved = (bytes: Uint8Array) => {
    const file = join(dir, `${crypto.randomUUID()}.parquet`)
    writeFileSync(file, bytes)
    return file
  }

  it('says what its columns mean', async () => {
    const { objects, part, merge } = setup()
    const { file } = await merge([await part(['a'], 0), await part(['b'], 1)])
    const path = saved((await objects.get(file.key))!)
    const found = await query(
      `select decode(value) as said from parquet_kv_metadata('${path}') where decode(key) = 'column_descriptions'`,
    )
    expect(found).toHaveLength(1)
    expect(JSON.parse(String(found[0]?.said))).toEqual(Object.fromEntries(columns.map(({ name, doc }) => [name, doc])))
  })

  it('holds all rows with all their values, sorted by key, of two versions the older one first', async () => {
    const { objects, part, merge } = setup()
    const parts = [await part(['d', 'b'], 0), await part(['c', 'a'], 1), await part(['b'], 2)]
    const { file, taken } = await merge(parts)
    expect([taken, file.rows]).toEqual([3, 5])
    const bytes = (await objects.get(file.key))!
    expect([file.bytes, file.sha256]).toEqual([bytes.byteLength, sha256(bytes)])
    const merged = saved(bytes)
    const rows = await query(`select * from '${merged}'`)
    expect(rows.map(({ session_id, _sequence }) => `${session_id}${_sequence}`)).toEqual(['a1', 'b0', 'b2', 'c1', 'd0'])
    const before = await Promise.all(
      parts.map(async ({ key }) => rowsOf([...openPart((await objects.get(key))!).groups(columns)])),
    )
    const after: RowGroup[] = []
    for await (const group of rowFiles.read(bytes, columns)) after.push(group)
    expect(rowsOf(after).sort()).toEqual(before.flat().sort())
  })

  it('says in which group a key or a time can be', () => {
    const writer = rowFiles.open(table)
    for (const keys of [['a', 'b'], ['c']]) writer.add(batchOf(keys.map((key, i) => rowOf(key, i))).columns)
    const file = saved(writer.finish())
    const bounded = ['session_id', '_synced_at', '_sequence', '_op', '_run_id'].map((name) => `'${name}'`)
    const sql = `select row_group_id, min(stats_min_value) filter (path_in_schema = 'session_id') as first, count(stats_min_value) as bounds
      from parquet_metadata('${file}') where path_in_schema in (${bounded}) group by 1 order by 1`
    return expect(query(sql)).resolves.toEqual([
      { row_group_id: '0', first: 'a', bounds: '5' },
      { row_group_id: '1', first: 'c', bounds: '5' },
    ])
  })

  it.each<[string, Partial<FileLimits>]>([
    ['rows', { rows: 4 }],
    ['bytes', { bytes: 1 }],
    ['unpacked bytes', { unpackedBytes: 1 }],
  ])('takes no more %s than fit, and at least one part', async (_, limits) => {
    const { part, merge } = setup({ ...generous, ...limits })
    const parts = [await part(['a', 'b', 'c'], 0), await part(['d', 'e'], 1)]
    const first = await merge(parts)
    expect([first.taken, first.file.rows]).toEqual([1, 3])
    const second = await merge(parts.slice(1))
    expect([second.taken, second.file.rows]).toEqual([1, 2])
    expect(second.file.key).not.toBe(first.file.key)
  })

  it('takes parts of an older version: times in milliseconds, and a column less', async () => {
    const { objects, part, merge } = setup()
    const older = await part(['a'], 0)
    const bytes = olderFile({ session_id: 'a', created_at: at, message_count: 3n })
    await objects.put(older.key, bytes)
    const { file } = await merge([{ ...older, sha256: sha256(bytes) }, await part(['b'], 1)])
    const merged = saved((await objects.get(file.key))!)
    expect(
      await query(`select session_id, epoch_ms(created_at) as at, message_count, status from '${merged}' limit 1`),
    ).toEqual([{ session_id: 'a', at: String(at), message_count: '3', status: null }])
  })

  mergedFileContract(setup)
})

/** A row as files had it before columns had ids. */
function olderFile(row: { session_id: string; created_at: number; message_count: bigint }): Uint8Array {
  const optional = { repetition_type: 'OPTIONAL' } as const
  return new Uint8Array(
    parquetWriteBuffer({
      schema: [
        { name: 'root', num_children: 3 },
        { name: 'session_id', type: 'BYTE_ARRAY', converted_type: 'UTF8', ...optional },
        { name: 'created_at', type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', ...optional },
        { name: 'message_count', type: 'INT64', ...optional },
      ],
      columnData: Object.entries(row).map(([name, value]) => ({ name, data: [value] })),
    }),
  )
}
