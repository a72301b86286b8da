import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { partitionPrefix, partKey, schemaVersion } from '../../lib/stores/lake-paths.ts'
import { encodePart } from '../../lib/stores/part-rows.ts'
import { createPublishingLake } from '../../lib/stores/publishing-lake.ts'
import { encodeParquet } from '../../lib/stores/row-files.ts'
import { identifiedColumnsOf } from '../../lib/streams/field-ids.ts'
import { streams } from '../../lib/streams/index.ts'
import { type Cell, columnsOf, type Table } from '../../lib/streams/table.ts'
import type { RowBatch } from '../../lib/sync/ports.ts'
import { createMemoryLake } from '../support/memory/lake.ts'
import { createMemoryObjects } from '../support/memory/objects.ts'
import { lakeContract } from './contracts/lake.ts'
import { useEmulators } from './emulated.ts'
import { pathOf, untroubled } from './samples.ts'

const emulated = useEmulators()
lakeContract('in memory', createMemoryLake)
lakeContract('in S3', () => createPublishingLake(emulated().lake))

function column(name: string, type: 'string' | 'int64' | 'double' | 'boolean' | 'timestamp' | 'json') {
  return { name, type, doc: name } as const
}
const table: Table = {
  name: 'samples',
  doc: 'One column of each type.',
  key: ['text'],
  read: () => ({ rows: [], misfits: [], drifted: false }),
  columns: [
    column('text', 'string'),
    column('whole', 'int64'),
    column('cost', 'double'),
    column('flag', 'boolean'),
    column('at', 'timestamp'),
    column('free', 'json'),
  ],
}
function encoded(batch: RowBatch) {
  const columns = columnsOf(table).map((each, i) => ({ ...each, id: i + 1 }))
  return encodeParquet(batch.table, batch.table === table ? columns : identifiedColumnsOf(batch.table), batch.columns)
}
const at = Date.UTC(2026, 4, 1, 12, 34, 56, 789)
const full: Cell[] = ['é😀', 2 ** 53 - 1, 5, true, at, '{"Team":"a","team":"b"}']
const meta: Cell[] = ['upsert', 'run-1', 'scan-1', 7, at, 'hash', null, null]

function batchOf(rows: Cell[][], of = table): RowBatch {
  return {
    table: of,
    columns: columnsOf(of).map((_, i) => rows.map((row) => row[i]!)),
    rows: rows.length,
  }
}
const nulls = columnsOf(table).map(() => null)

describe('a Parquet file of the lake', () => {
  const dir = mkdtempSync(join(tmpdir(), 'platform-sync-'))
  let database: DuckDBInstance
  beforeAll(async () => {
    database = await DuckDBInstance.create(':memory:')
  })
  afterAll(() => {
    database.closeSync()
    rmSync(dir, { recursive: true, force: true })
  })

  const query = async (sql: string) => {
    const connection = await database.connect()
    const rows = await (await connection.runAndReadAll(sql)).getRowObjectsJson()
    connection.closeSync()
    return rows
  }
  const fileOf = (batch: RowBatch): string => {
    const file = join(dir, `${crypto.randomUUID()}.parquet`)
    writeFileSync(file, encoded(batch))
    return file
  }

  it('is read back by another engine as it was written, times in UTC (LAKE-03)', async () => {
    const file = fileOf(batchOf([[...full, ...meta], nulls]))
    const [row, empty] = await query(
      `SELECT text, whole, cost, flag, epoch_ms("at") AS ms, free, _op, _sequence FROM '${file}'`,
    )
    expect(row).toEqual({
      text: 'é😀',
      whole: '9007199254740991',
      cost: 5,
      flag: true,
      ms: String(at),
      free: '{"Team":"a","team":"b"}',
      _op: 'upsert',
      _sequence: '7',
    })
    expect(Object.values(empty!)).toEqual(Array.from({ length: 8 }, () => null))
  })

  it('says that its times are UTC in microseconds, as Iceberg wants them, and its compression ZSTD (LAKE-03)', async () => {
    const file = fileOf(batchOf([[...full, ...meta]]))
    const types = await query(
      `SELECT name, logical_type, converted_type FROM parquet_schema('${file}') WHERE name = 'at'`,
    )
    expect(types[0]?.logical_type).toMatch(/isAdjustedToUTC=1.*MICROS/s)
    expect(await query(`SELECT DISTINCT compression FROM parquet_metadata('${file}')`)).toEqual([
      { compression: 'ZSTD' },
    ])
  })

  it.each(streams.flatMap((stream) => stream.tables as readonly Table[]))(
    'has the same schema for no rows, for nulls alone and for values: $name (LAKE-02)',
    async (of) => {
      const value = { string: 'x', json: '{}', int64: 1, double: 1, boolean: false, timestamp: at }
      const values = columnsOf(of).map(({ type }) => value[type])
      const batches = [[], [values.map(() => null)], [values]].map((rows) => batchOf(rows, of))
      const schemas = await Promise.all(
        batches.map((batch) => query(`SELECT * EXCLUDE (file_name) FROM parquet_schema('${fileOf(batch)}')`)),
      )
      expect(schemas[0]).toHaveLength(columnsOf(of).length + 1)
      expect(schemas[1]).toEqual(schemas[0])
      expect(schemas[2]).toEqual(schemas[0])
    },
  )

  it('names each column by its id, so that a reader finds it whatever it is called', async () => {
    const batch = batchOf([], streams[0]!.tables[0])
    const schema = await query(
      `SELECT name, field_id FROM parquet_schema('${fileOf(batch)}') WHERE field_id IS NOT NULL`,
    )
    const ids = identifiedColumnsOf(batch.table).map(({ name, id }) => ({ name, field_id: String(id) }))
    expect(schema.map(({ name, field_id }) => ({ name, field_id: String(field_id) }))).toEqual(ids)
  })

  it('takes a whole number, then a fraction, into a column of doubles (LAKE-02)', async () => {
    const rows = [5, 5.5].map((cost) => ['a', 1, cost, null, null, null, ...meta])
    const files = rows.map((row) => fileOf(batchOf([row])))
    expect(
      await query(`SELECT sum(cost) AS cost FROM read_parquet(${JSON.stringify(files).replaceAll('"', "'")})`),
    ).toEqual([{ cost: 10.5 }])
  })

  it.each<[string, Cell[]]>([
    ['a text in a column of doubles', ['a', 1, '5.5', true, at, '{}']],
    ['a fraction in a column of whole numbers', ['a', 1.5, 5, true, at, '{}']],
    ['a number that a double rounds', ['a', 2 ** 53, 5, true, at, '{}']],
    ['a text in a column of times', ['a', 1, 5, true, '2026-05-01', '{}']],
  ])('refuses %s, instead of storing something else (LAKE-02)', (_, cells) => {
    expect(() => encoded(batchOf([[...cells, ...meta]]))).toThrow(/samples\.\w+ is declared as/)
  })

  it('refuses a batch whose columns are not those that are declared', () => {
    expect(() => encodePart({ ...batchOf([[...full, ...meta]]), rows: 2 })).toThrow(/samples/)
    expect(() => encodePart({ table, columns: [], rows: 0 })).toThrow(/samples/)
  })
})

describe('where files lie', () => {
  it('is the date on which the scan began, in UTC, with part numbers that sort (S3-06, S3-08)', () => {
    expect(partKey('changes', 'sessions', pathOf({ part: 12, fence: 3 }))).toBe(
      'changes/sessions/dt=2026-03-01/run=run-1/00012-3.rows',
    )
    expect(partKey('quarantine', 'sessions', pathOf())).toBe(
      'quarantine/sessions/dt=2026-03-01/run=run-1/00001-1.ndjson.gz',
    )
  })

  it.each(['America/Los_Angeles', 'Pacific/Kiritimati'])('is the same on a machine in %s (S3-08)', (TZ) => {
    const module = new URL('../../lib/stores/lake-paths.ts', import.meta.url).href
    const startedAt = Date.parse('2026-03-01T00:30:00Z')
    const call = `partitionPrefix({ kind: 'changes', name: 't', runId: 'r', startedAt: ${startedAt} })`
    const code = `const { partitionPrefix } = await import('${module}'); console.log(new Date().getTimezoneOffset(), ${call})`
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', code], { env: { ...process.env, TZ } })
    const [offset, prefix] = output.toString().trim().split(' ')
    expect(offset).not.toBe('0')
    expect(prefix).toBe(partitionPrefix({ kind: 'changes', name: 't', runId: 'r', startedAt }))
    expect(prefix).toBe('changes/t/dt=2026-03-01/run=r/')
  })

  it('tells by the schema version when the columns of a table changed', () => {
    const [first, ...rest] = table.columns
    const version = schemaVersion(table)
    expect(version).toMatch(/^[0-9a-f]{12}$/)
    expect(schemaVersion({ ...table, columns: [{ ...first!, doc: 'another text' }, ...rest] })).toBe(version)
    expect(schemaVersion({ ...table, columns: [{ ...first!, type: 'json' }, ...rest] })).not.toBe(version)
    expect(schemaVersion({ ...table, columns: [...rest, first!] })).not.toBe(version)
  })
})

describe('a quarantine file', () => {
  it('holds a line per record with its raw form as text, digits included (JSON-01)', async () => {
    const objects = createMemoryObjects()
    const raw = '{"id":9007199254740993,"name":"a\\nb"}'
    const records = [
      { key: null, reasons: ['no id'], raw },
      { key: 'b', reasons: ['bad'], raw: 'null' },
    ]
    const file = await createPublishingLake(objects).writeQuarantine(pathOf(), records, untroubled)
    const lines = gunzipSync((await objects.get(file.key))!)
      .toString()
      .trimEnd()
      .split('\n')
    expect(lines).toHaveLength(2)
    expect(JSON.parse(lines[0]!)).toEqual({
      stream: 'sessions',
      key: null,
      reasons: ['no id'],
      raw: '{"id":9007199254740993,"name":"a\\nb"}',
      run_id: 'run-1',
      scan_id: 'scan-1',
    })
  })
})

describe('a line of a quarantine file', () => {
  it('is one line to every reader, whatever ends a line for some (LINE-01)', async () => {
    const objects = createMemoryObjects()
    const title = 'one\u2028two\u2029three\u0085four'
    const records = [{ key: title, reasons: ['no id'], raw: JSON.stringify({ title }) }]
    const file = await createPublishingLake(objects).writeQuarantine(pathOf(), records, untroubled)
    const text = gunzipSync((await objects.get(file.key))!).toString()
    expect(text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)).toHaveLength(2)
    const { key, raw } = JSON.parse(text)
    expect([key, JSON.parse(raw)]).toEqual([title, { title }])
  })
})

describe('a manifest in S3', () => {
  it('that is not understood is an error, never an absent one', async () => {
    const objects = createMemoryObjects()
    for (const [text, code] of [
      ['{"version":1}', 'damaged_state'],
      ['{"version":2}', 'configuration'],
    ] as const) {
      await objects.put('manifests/run=r.json', Buffer.from(text))
      await expect(createPublishingLake(objects).readManifest('r')).rejects.toMatchObject({ code })
    }
  })
})
