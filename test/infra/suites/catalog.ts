import { parquetMetadataAsync } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import { partitionsOf, warehouseTables } from '../../../lib/stores/catalog.ts'
import { mergedKey, partKey } from '../../../lib/stores/lake-paths.ts'
import { parquetSchema } from '../../../lib/stores/parquet.ts'
import { encodeParquet } from '../../../lib/stores/row-files.ts'
import { currentQuery } from '../../../lib/streams/current.ts'
import { identifiedColumnsOf } from '../../../lib/streams/field-ids.ts'
import { streams } from '../../../lib/streams/index.ts'
import { runsColumns, runsTable } from '../../../lib/streams/runs-table.ts'
import { columnsOf } from '../../../lib/streams/table.ts'
import { resolved, synthesize } from '../synthesized.ts'

const { resources } = synthesize()
type Column = { Name: string; Type: string; Comment: string }
type TableInput = {
  Name: string
  PartitionKeys: Column[]
  StorageDescriptor: { Columns: Column[]; Location: unknown; SerdeInfo: { SerializationLibrary: string } }
}
const inputs = resources('AWS::Glue::Table').map(([, { Properties }]) => Properties.TableInput as TableInput)
const tables = warehouseTables(streams)

/** What Athena reads for a Parquet type, by Glue's names. */
function glueTypeOf(physical: string | undefined, logical: string | undefined): string {
  if (logical === 'TIMESTAMP') return 'timestamp'
  if (logical === 'STRING') return 'string'
  return { INT64: 'bigint', DOUBLE: 'double', BOOLEAN: 'boolean' }[physical ?? ''] ?? `${physical} ${logical}`
}

describe('the catalog', () => {
  it('has one table per warehouse table, and that of runs', () => {
    const names = [runsTable.name, ...tables.map(({ table }) => table.name)]
    expect(inputs.map(({ Name }) => Name).sort()).toEqual(names.sort())
  })

  it('declares for the table of runs the columns that its files have, and no partition that nobody registers', () => {
    const types = parquetSchema(runsColumns)
      .slice(1)
      .map(({ name, type, logical_type }) => [name, glueTypeOf(type, logical_type?.type)])
    expect(columnsIn(runsTable.name).map(({ Name, Type }) => [Name, Type])).toEqual(types)
    const input = inputs.find(({ Name }) => Name === runsTable.name)
    expect(input?.PartitionKeys).toBeUndefined()
    expect(JSON.stringify(resolved(input?.StorageDescriptor.Location))).toMatch(/\/runs\/"$/)
  })

  it.each(tables)('declares for $table.name the columns that its files have', async ({ table }) => {
    const empty = encodeParquet(
      table,
      identifiedColumnsOf(table),
      columnsOf(table).map(() => [null]),
    )
    const file = empty.buffer.slice(empty.byteOffset, empty.byteOffset + empty.byteLength) as ArrayBuffer
    const { schema } = await parquetMetadataAsync(file)
    const inFile = schema.slice(1).map(({ name, type, logical_type }) => [name, glueTypeOf(type, logical_type?.type)])
    expect(columnsIn(table.name).map(({ Name, Type }) => [Name, Type])).toEqual(inFile)
  })

  it.each(tables)('says of each column of $table.name what it means', ({ table }) => {
    for (const { Name, Comment } of columnsIn(table.name)) {
      expect([Name, Comment.length > 5 && Comment.length <= 255]).toEqual([Name, true])
    }
  })

  it.each(tables)(
    'has no column of $table.name twice for an engine that folds case, partitions included',
    ({ table }) => {
      const { PartitionKeys } = inputs.find(({ Name }) => Name === table.name)!
      const names = [...columnsIn(table.name), ...PartitionKeys].map(({ Name }) => Name.toLowerCase())
      expect(new Set(names).size).toBe(names.length)
    },
  )

  it.each(tables)('LAKE-05 looks for the files of $table.name where they are written', ({ table }) => {
    const { StorageDescriptor, PartitionKeys } = inputs.find(({ Name }) => Name === table.name)!
    const at = { stream: 'any', scanId: 's', runId: '20260501T020000Z-nightly', part: 0, fence: 1 }
    const part = partKey('changes', table.name, { ...at, startedAt: Date.UTC(2026, 4, 1, 23, 59) })
    const key = mergedKey([{ key: part }])
    const location = resolved(StorageDescriptor.Location)
    const [dt, run] = PartitionKeys.map(({ Name }) => Name)
    const values = `${dt}=2026-05-01/${run}=20260501T020000Z-nightly`
    const [name = ''] = key.split('/').slice(-1)
    expect(`s3://platform-sync-lake-123456789012-us-east-1/${key}`).toBe(`${location}${values}/${name}`)
    expect(name).toMatch(/^[0-9a-f]{20}\.parquet$/)
    const file = { kind: 'changes' as const, table: table.name, key, rows: 1, bytes: 1, sha256: '', schemaVersion: '' }
    expect(partitionsOf(manifestWith([file]))).toEqual([
      {
        table: table.name,
        dt: '2026-05-01',
        run: '20260501T020000Z-nightly',
        prefix: key.replace(name, ''),
      },
    ])
  })

  it('brings a named query that makes the view of each table as it is now', () => {
    const queries = resources('AWS::Athena::NamedQuery').map(([, { Properties }]) => Properties)
    expect(queries).toHaveLength(tables.length)
    for (const { stream, table } of tables) {
      expect(queries).toContainEqual(
        expect.objectContaining({
          Database: 'platform_sync',
          QueryString: `create or replace view ${table.name}_current as\n${currentQuery(stream, table)}`,
        }),
      )
    }
  })
})

function columnsIn(table: string): Column[] {
  return inputs.find(({ Name }) => Name === table)!.StorageDescriptor.Columns
}

type File = Parameters<typeof partitionsOf>[0]['scans'][number]['files'][number]

function manifestWith(files: File[]): Parameters<typeof partitionsOf>[0] {
  return {
    version: 1,
    runId: 'r',
    publishedAt: '2026-05-01T02:00:00.000Z',
    scans: [{ files } as Parameters<typeof partitionsOf>[0]['scans'][number]],
  }
}
