import { columnLines, type Dialect, quoted, standardDropOrphans, standardMerge } from './dialect.ts'

/** DuckDB reads the files itself. JSON stays text, as in `query`: its functions take both, and a cast would refuse odd numbers. */
export const duckdb: Dialect = {
  types: {
    string: 'varchar',
    json: 'varchar',
    int64: 'bigint',
    double: 'double',
    boolean: 'boolean',
    timestamp: 'timestamp',
  },
  stageTypes: {},
  json: (cell) => cell,
  text: quoted,
  comments: 'statements',
  indexes: () => [],
  grow: (table, columns) =>
    columns.map(({ name, type }) => `alter table ${table} add column if not exists ${name} ${type}`),
  stagePrefix: () => '',
  fill: ({ name, columns, files }) => [
    `create or replace temp table ${name} ${columnLines(columns)}`,
    ...(files.length === 0
      ? []
      : [
          `insert into ${name} by name\nselect * from read_parquet([\n${files.map((file) => `  ${quoted(file)}`).join(',\n')}\n], union_by_name = true)`,
        ]),
  ],
  // Times of files are instants, and columns are UTC.
  settings: ["set timezone = 'UTC'"],
  begin: 'begin transaction',
  commit: 'commit',
  merge: standardMerge,
  dropOrphans: standardDropOrphans,
}
