import {
  columnLines,
  type Dialect,
  isNewer,
  isOfOtherVersion,
  type Merge,
  type Orphans,
  quoted,
  sameKey,
} from './dialect.ts'

/** Redshift copies files by itself, with the cluster's default role. JSON is `super`; texts are at most 65,535 bytes. */
export const redshift: Dialect = {
  types: {
    string: 'varchar(65535)',
    json: 'super',
    int64: 'bigint',
    double: 'double precision',
    boolean: 'boolean',
    timestamp: 'timestamp',
  },
  stageTypes: { json: 'varchar(65535)' },
  json: (cell) => `json_parse(${cell})`,
  text: quoted,
  comments: 'statements',
  indexes: () => [],
  stagePrefix: () => '',
  fill: ({ name, columns, files }) => [
    `drop table if exists ${name}`,
    `create temporary table ${name} ${columnLines(columns)}`,
    ...files.map((file) => `copy ${name} from ${quoted(file)} iam_role default format as parquet`),
  ],
  settings: [],
  begin: 'begin',
  commit: 'commit',
  merge: mergeOfNewer,
  dropOrphans,
}

/** Its MERGE takes a table and no condition, so that what is not newer is taken out before. */
function mergeOfNewer({ target, stage, fresh, columns, key }: Merge): readonly string[] {
  const pairs = key.map((column) => [column, column] as const)
  const newest = `${stage}_newest`
  return [
    `drop table if exists ${newest}`,
    `create temporary table ${newest} as\n${fresh}`,
    `delete from ${newest} using ${target} as kept where ${sameKey('kept', newest, pairs)} and not ${isNewer(newest, 'kept')}`,
    [
      `merge into ${target} using ${newest} as fresh on ${sameKey(bareName(target), 'fresh', pairs)}`,
      `when matched then update set\n${columns.map((column) => `  ${column} = fresh.${column}`).join(',\n')}`,
      `when not matched then insert (${columns.join(', ')})`,
      `values (${columns.map((column) => `fresh.${column}`).join(', ')})`,
    ].join('\n'),
    `drop table ${newest}`,
  ]
}

function dropOrphans({ target, parent, stage, key }: Orphans): string {
  const staged = key.map(([column]) => [column, column] as const)
  const child = bareName(target)
  return [
    `delete from ${target} using ${parent} as parent, ${stage} as staged`,
    `where ${sameKey('parent', child, key)} and ${sameKey('staged', 'parent', staged)}`,
    `and ${isOfOtherVersion(child, 'parent')}`,
  ].join('\n')
}

/** What columns of a table without an alias are named by. */
function bareName(table: string): string {
  return table.replace(/^.*\./, '')
}
