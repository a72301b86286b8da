import { slices } from '../core/concurrency.ts'
import { columnLines, type Dialect, escaped, quoted, standardDropOrphans, standardMerge } from './dialect.ts'

/** Snowflake names at most so many files in one COPY. */
const filesAtOnce = 1000

/** Snowflake reads from an external stage `platform_sync_lake`, which stands for the whole bucket. JSON is `variant`. */
export const snowflake: Dialect = {
  types: {
    string: 'varchar',
    json: 'variant',
    int64: 'number(38, 0)',
    double: 'float',
    boolean: 'boolean',
    timestamp: 'timestamp_tz',
  },
  stageTypes: { json: 'varchar' },
  json: (cell) => `parse_json(${cell})`,
  text: escaped,
  comments: {
    column: (comment) => ` comment ${escaped(comment)}`,
    table: (comment) => ` comment = ${escaped(comment)}`,
  },
  indexes: () => [],
  stagePrefix: () => '',
  fill: ({ name, columns, files }) => [
    `create or replace temporary table ${name} ${columnLines(columns)}`,
    ...slices(files, filesAtOnce).map((some) =>
      [
        `copy into ${name} from @platform_sync_lake`,
        `files = (\n${some.map((file) => `  ${quoted(file.replace(/^s3:\/\/[^/]+\//, ''))}`).join(',\n')}\n)`,
        'file_format = (type = parquet use_logical_type = true) match_by_column_name = case_insensitive',
      ].join('\n'),
    ),
  ],
  settings: ["alter session set timezone = 'UTC'"],
  begin: 'begin transaction',
  commit: 'commit',
  merge: standardMerge,
  dropOrphans: standardDropOrphans,
}
