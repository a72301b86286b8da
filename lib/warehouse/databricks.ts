import { slices } from '../core/concurrency.ts'
import { columnLines, type Dialect, escaped, standardDropOrphans, standardMerge } from './dialect.ts'

/** Databricks names at most so many files in one COPY. */
const filesAtOnce = 1000

/**
 * Databricks reads the bucket as an external location. JSON stays `string`, which its `:` operator reads. It has no
 * transaction over several tables: each statement is whole by itself, and a load that broke is run again.
 */
export const databricks: Dialect = {
  types: {
    string: 'string',
    json: 'string',
    int64: 'bigint',
    double: 'double',
    boolean: 'boolean',
    timestamp: 'timestamp',
  },
  stageTypes: {},
  json: (cell) => cell,
  text: escaped,
  comments: { column: (comment) => ` comment ${escaped(comment)}`, table: (comment) => ` comment ${escaped(comment)}` },
  indexes: () => [],
  stagePrefix: (schema) => `${schema}.`,
  fill: ({ name, columns, files }) => [
    `create or replace table ${name} ${columnLines(columns)}`,
    ...slices(files, filesAtOnce).map((some) => copyInto(name, some)),
  ],
  settings: ["set time zone 'UTC'"],
  begin: '',
  commit: '',
  merge: standardMerge,
  dropOrphans: standardDropOrphans,
}

function copyInto(name: string, files: readonly string[]): string {
  const root = /^.*?:\/\/[^/]+\//.exec(files[0] ?? '')?.[0] ?? ''
  return [
    `copy into ${name} from ${escaped(root)}`,
    'fileformat = parquet',
    `files = (\n${files.map((file) => `  ${escaped(file.slice(root.length))}`).join(',\n')}\n)`,
    "copy_options ('force' = 'true')",
  ].join('\n')
}
