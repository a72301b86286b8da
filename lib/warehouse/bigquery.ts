import { columnLines, type Dialect, escaped, standardDropOrphans, standardMerge } from './dialect.ts'

/** BigQuery reads S3 through a connection of BigQuery Omni. JSON is `json`, with numbers as near as a double can be. */
export const bigquery: Dialect = {
  types: {
    string: 'string',
    json: 'json',
    int64: 'int64',
    double: 'float64',
    boolean: 'bool',
    timestamp: 'timestamp',
  },
  stageTypes: { json: 'string' },
  json: (cell) => `parse_json(${cell}, wide_number_mode => 'round')`,
  text: escaped,
  comments: {
    column: (comment) => ` options (description = ${escaped(comment)})`,
    table: (comment) => ` options (description = ${escaped(comment)})`,
  },
  indexes: () => [],
  stagePrefix: (schema) => `${schema}.`,
  fill: ({ name, columns, files }) => [
    `create or replace table ${name} ${columnLines(columns)}`,
    ...(files.length === 0
      ? []
      : [
          [
            `load data into ${name}`,
            `from files (format = 'PARQUET', uris = [\n${files.map((file) => `  ${escaped(file)}`).join(',\n')}\n])`,
            'with connection `aws-us-east-1.platform-sync`',
          ].join('\n'),
        ]),
  ],
  settings: [],
  begin: 'begin transaction',
  commit: 'commit transaction',
  merge: standardMerge,
  dropOrphans: standardDropOrphans,
}
