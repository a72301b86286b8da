import { type Stream, tablesOf } from '../streams/stream.ts'
import { type ColumnType, columnsOf, type Table } from '../streams/table.ts'

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
export function glueColumns(table: Table): GlueColumn[] {
  return columnsOf(table).map(({ name, type, doc }) => ({
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
