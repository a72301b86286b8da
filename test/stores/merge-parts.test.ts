import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '../../lib/core/hash.ts'
import type { RowGroup } from '../../lib/publish/iceberg/ports.ts'
import { createMerger, type MergeLimits } from '../../lib/stores/merge-parts.ts'
import { openPart, wholePart } from '../../lib/stores/part-rows.ts'
import { createPublishingLake } from '../../lib/stores/publishing-lake.ts'
import { rowFiles } from '../../lib/stores/row-files.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { type Cell, columnsOf, type Table } from '../../lib/streams/table.ts'
import type { PartFile } from '../../lib/sync/checkpoint.ts'
import type { RowBatch } from '../../lib/sync/ports.ts'
import { createMemoryObjects } from '../support/memory/objects.ts'
import { mergedFileContract } from './contracts/merged-file.ts'
import { allOf, pathOf, undisturbed, untroubled } from './samples.ts'

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

const generous: MergeLimits = { rows: 1_000, bytes: 1e9, partsAtOnce: 100, readAheadBytes: 1e7 }

function setup(limits = generous) {
  const objects = createMemoryObjects()
  const lake = createPublishingLake(objects)
  const part = (keys: string[], n: number) =>
    lake.writeRows(pathOf({ part: n }), batchOf(keys.map((key) => rowOf(key, n))), untroubled)
  const merge = (parts: PartFile[]) => createMerger(objects, limits).mergeParts(table, parts, undisturbed)
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
    const { files } = await merge([await part(['a'], 0), await part(['b'], 1)])
    const file = files[0]!
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
    const { files, taken } = await merge(parts)
    const file = files[0]!
    expect([taken, files.length, file.rows]).toEqual([3, 1, 5])
    const bytes = (await objects.get(file.key))!
    expect([file.bytes, file.sha256]).toEqual([bytes.byteLength, sha256(bytes)])
    const merged = saved(bytes)
    const rows = await query(`select * from '${merged}'`)
    expect(rows.map(({ session_id, _sequence }) => `${session_id}${_sequence}`)).toEqual(['a1', 'b0', 'b2', 'c1', 'd0'])
    const before = await Promise.all(
      parts.map(async ({ key }) => {
        const { groups } = await openPart(wholePart(key, (await objects.get(key))!))
        return rowsOf(await allOf(groups(columns)))
      }),
    )
    const after = await allOf(rowFiles.read(bytes, columns))
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

  const keysIn = async (objects: ReturnType<typeof setup>['objects'], files: readonly PartFile[]) => {
    const found: string[] = []
    for (const { key } of files) {
      let keys = ''
      for await (const [ids = [], sequences = []] of rowFiles.read((await objects.get(key))!, [
        { name: 'session_id', type: 'string', doc: '' },
        { name: '_sequence', type: 'int64', doc: '' },
      ]))
        keys += ids.map((id, row) => `${id}${sequences[row]}`).join(' ')
      found.push(keys)
    }
    return found
  }

  it('is one of several where all rows are too many, none of which reaches over another or splits a record', async () => {
    const { objects, part, merge } = setup({ ...generous, rows: 2 })
    const parts = [await part(['e', 'a', 'c'], 0), await part(['b', 'd', 'c'], 1), await part(['b', 'c'], 2)]
    const { files, taken } = await merge(parts)
    expect(taken).toBe(3)
    expect(files.map(({ rows }) => rows)).toEqual([3, 3, 2])
    expect(await keysIn(objects, files)).toEqual(['a0 b1 b2', 'c0 c1 c2', 'd1 e0'])
    expect(new Set(files.map(({ key }) => key)).size).toBe(3)
  })

  it('ends where its bytes are enough, group by group', async () => {
    const { part, merge } = setup({ ...generous, bytes: 1 })
    // A group that is full goes into the file, whose size is known then: 32 MB of texts are one.
    const long = 'x'.repeat(20 * 2 ** 20)
    const { files } = await merge([
      await part(
        ['a', 'b', 'c'].map((key) => key + long),
        0,
      ),
    ])
    expect(files.map(({ rows }) => rows)).toEqual([2, 1])
  })

  it('is made of as many parts as can be merged at a time', async () => {
    const { objects, part, merge } = setup({ ...generous, partsAtOnce: 2 })
    const parts = [await part(['c'], 0), await part(['a'], 1), await part(['b'], 2)]
    const first = await merge(parts)
    const second = await merge(parts.slice(first.taken))
    expect([first.taken, second.taken]).toEqual([2, 1])
    expect(await keysIn(objects, [...first.files, ...second.files])).toEqual(['a1 c0', 'b2'])
  })

  it('holds what parts hold that are read in many windows', async () => {
    const { objects, part, merge } = setup({ ...generous, readAheadBytes: 1 })
    const names = Array.from(
      { length: 300 },
      (_, n) => `${String(n).padStart(3, '0')}${randomBytes(300).toString('hex')}`,
    )
    const parts = [await part(names.slice(0, 200), 0), await part(names.slice(200), 1)]
    expect(Math.min(...parts.map(({ bytes }) => bytes))).toBeGreaterThan(32 * 1024)
    const { files } = await merge(parts)
    const [keys = ''] = await keysIn(objects, files)
    expect(keys.split(' ')).toEqual(names.map((name, n) => `${name}${n < 200 ? 0 : 1}`))
  })

  it('is not made of a large part whose end is damaged, whatever it begins with', async () => {
    const { objects, part, merge } = setup({ ...generous, readAheadBytes: 1 })
    const names = Array.from({ length: 300 }, (_, n) => `${n}${randomBytes(300).toString('hex')}`)
    const large = await part(names, 0)
    const bytes = (await objects.get(large.key))!
    const other = await part(
      names.toReversed().map((name) => `x${name}`),
      1,
    )
    for (const broken of [bytes.with(-1, bytes.at(-1)! ^ 1), bytes.subarray(0, -1), (await objects.get(other.key))!]) {
      await objects.put(large.key, broken)
      await expect(merge([large])).rejects.toMatchObject({
        code: 'damaged_state',
        message: expect.stringContaining(large.key),
      })
    }
  })

  it('asks whether the lease holds, and ends with it: another one may have removed the parts by then', async () => {
    const { objects, part } = setup()
    const lease = new AbortController()
    let asked = 0
    const stillMine = async () => {
      asked += 1
    }
    const merge = (parts: PartFile[]) =>
      createMerger(objects, generous).mergeParts(table, parts, { signal: lease.signal, stillMine })
    const parts = [await part(['a'], 0)]
    await merge(parts)
    expect(asked).toBe(1)
    const before = await objects.list('changes/')
    lease.abort(new Error('lost'))
    await expect(merge(parts)).rejects.toThrow('lost')
    expect(await objects.list('changes/')).toEqual(before)
    await objects.remove([parts[0]!.key])
    for (const key of [parts[0]!.key, parts[0]!.key.replace('.rows', '.parquet')]) {
      await expect(merge([{ ...parts[0]!, key }])).rejects.toThrow('lost')
    }
  })

  it('takes parts of an older version: times in milliseconds, and a column less', async () => {
    const { objects, part, merge } = setup()
    const written = await part(['a'], 0)
    const older = { ...written, key: written.key.replace('.rows', '.parquet') }
    const bytes = olderFile({ session_id: 'a', created_at: at, message_count: 3n })
    await objects.put(older.key, bytes)
    const { files } = await merge([{ ...older, sha256: sha256(bytes) }, await part(['b'], 1)])
    const merged = saved((await objects.get(files[0]!.key))!)
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
