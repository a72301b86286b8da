import { BatchCreatePartitionCommand, GlueClient, type PartitionInput } from '@aws-sdk/client-glue'
import { FatalError, RetryableError } from '../core/errors.ts'
import type { Manifest } from '../publish/manifest.ts'
import type { Catalog } from '../publish/ports.ts'
import { type Stream, tablesOf } from '../streams/stream.ts'
import { type Column, type ColumnType, columnsOf, type Table } from '../streams/table.ts'
import { callAws } from './aws-errors.ts'
import { type AwsTarget, clientSettings } from './clients.ts'

/** A folder of a table's files, as readers of the warehouse address it. */
type Partition = { table: string; dt: string; run: string; prefix: string }

/** Registers nothing. */
export const noCatalog: Catalog = { register: async () => {} }

const partitionsPerCall = 100

/** A client for Glue. */
export function createGlue(target: AwsTarget): GlueClient {
  return new GlueClient(clientSettings(target))
}

/** `streams`: all that the warehouse shows. */
type CatalogDeps = { glue: GlueClient; database: string; bucket: string; streams: readonly Stream[] }

/**
 * Partitions in Glue. Engines read the partitions that are registered and no others, so that registering is what makes
 * a scan visible to them (docs/decisions/aws-partitions.md).
 */
export function createCatalog(deps: CatalogDeps): Catalog {
  return {
    register: async (manifest) => {
      const byTable = Map.groupBy(partitionsOf(manifest), ({ table }) => table)
      for (const [table, partitions] of byTable) {
        for (let from = 0; from < partitions.length; from += partitionsPerCall) {
          await create(table, partitions.slice(from, from + partitionsPerCall), deps)
        }
      }
    },
  }
}

/** The partitions of a manifest's files, each once. Quarantine has no table. */
export function partitionsOf(manifest: Manifest): Partition[] {
  const found = new Map<string, Partition>()
  for (const { kind, table, key } of manifest.scans.flatMap(({ files }) => files)) {
    if (kind === 'changes') found.set(key.slice(0, key.lastIndexOf('/')), partitionAt(table, key))
  }
  return [...found.values()]
}

function partitionAt(table: string, key: string): Partition {
  const match = /^(?<prefix>.*\/dt=(?<dt>[^/]+)\/run=(?<run>[^/]+)\/)[^/]+$/.exec(key)
  const { prefix, dt, run } = match?.groups ?? {}
  if (prefix && dt && run) return { table, dt, run, prefix }
  throw new FatalError(`The manifest lists ${key}, which is in no partition; it was not written by this worker.`, {
    code: 'damaged_state',
  })
}

async function create(table: string, partitions: Partition[], deps: CatalogDeps) {
  const { glue, database } = deps
  const PartitionInputList = partitions.map((partition) => partitionInput(partition, deps))
  const { Errors = [] } = await callAws({ what: `register partitions of ${database}.${table} in Glue` }, () =>
    glue.send(new BatchCreatePartitionCommand({ DatabaseName: database, TableName: table, PartitionInputList })),
  )
  // What an earlier try registered is as it should be.
  const failed = Errors.find(({ ErrorDetail }) => ErrorDetail?.ErrorCode !== 'AlreadyExistsException')
  if (!failed) return
  const { ErrorCode = 'no code', ErrorMessage = '' } = failed.ErrorDetail ?? {}
  throw new RetryableError(
    `Glue did not register the partition ${failed.PartitionValues?.join('/')} of ${table}: ${ErrorCode} ${ErrorMessage}. ` +
      'The next publish registers it.',
    { code: 'storage_unavailable' },
  )
}

function partitionInput(
  { table, dt, run, prefix }: Partition,
  { bucket, streams }: Pick<CatalogDeps, 'bucket' | 'streams'>,
): PartitionInput {
  const declared = warehouseTables(streams).find(({ table: { name } }) => name === table)
  const columns = declared ? glueColumns(columnsOf(declared.table)) : []
  return {
    Values: [dt, run],
    StorageDescriptor: {
      Location: `s3://${bucket}/${prefix}`,
      Columns: columns.map(({ name, type, comment }) => ({ Name: name, Type: type, Comment: comment })),
      InputFormat: parquetFormat.inputFormat,
      OutputFormat: parquetFormat.outputFormat,
      SerdeInfo: { SerializationLibrary: parquetFormat.serializationLibrary },
    },
  }
}

const glueTypes: Record<ColumnType, string> = {
  string: 'string',
  json: 'string',
  int64: 'bigint',
  double: 'double',
  boolean: 'boolean',
  timestamp: 'timestamp',
}

/** Glue takes 255 characters of a comment. */
const commentLength = 255

/** A column as Glue shows it. */
export type GlueColumn = { name: string; type: string; comment: string }

/** The columns of a table in the catalog, in the order of its files. */
export function glueColumns(columns: readonly Column[]): GlueColumn[] {
  return columns.map(({ name, type, doc }) => ({
    name,
    type: glueTypes[type],
    comment: doc.slice(0, commentLength),
  }))
}

/** How the lake is partitioned: the parts of a file's path below its table. */
export const partitionKeys: GlueColumn[] = [
  { name: 'dt', type: 'date', comment: 'UTC date on which the scan began.' },
  { name: 'run', type: 'string', comment: 'The run that began the scan.' },
]

/** How files of the lake are read. */
export const parquetFormat = {
  inputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat',
  outputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat',
  serializationLibrary: 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe',
} as const

/** Every table of the warehouse with the stream that feeds it. */
export function warehouseTables(streams: readonly Stream[]): { stream: Stream; table: Table }[] {
  return streams.flatMap((stream) => tablesOf(stream).map((table) => ({ stream, table })))
}
