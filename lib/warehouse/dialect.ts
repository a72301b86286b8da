import type { ColumnType } from '../streams/table.ts'

/** A column as a warehouse has it. */
export type TypedColumn = { readonly name: string; readonly type: string }

/** A table that holds what one load brings, until it is merged. */
export type Stage = {
  readonly name: string
  readonly columns: readonly TypedColumn[]
  /** Addresses of the published files whose rows come in. */
  readonly files: readonly string[]
}

/** A table with the newest version of each record, and the query of what a load brings for it. */
export type Merge = {
  readonly target: string
  readonly stage: string
  /** A query: of each key the newest staged row, in the columns and types of the target. */
  readonly fresh: string
  readonly columns: readonly string[]
  readonly key: readonly string[]
}

/** A nested table whose parents changed: each row belongs to one version of its parent. */
export type Orphans = {
  readonly target: string
  readonly parent: string
  /** The stage of the parent. */
  readonly stage: string
  /** The parent's key, and beside each column the nested table's. */
  readonly key: readonly (readonly [ofParent: string, ofChild: string])[]
}

/** Where a warehouse differs from the others. What it does not say is the same SQL everywhere. */
export type Dialect = {
  readonly types: Readonly<Record<ColumnType, string>>
  /** Types of a stage, where they differ from those of the target: what the files hold. */
  readonly stageTypes: Partial<Readonly<Record<ColumnType, string>>>
  /** JSON of a stage, which is text, as the target's column has it. */
  readonly json: (cell: string) => string
  readonly text: (value: string) => string
  /** Where comments stand: behind column and table, or in statements of their own. */
  readonly comments:
    | { readonly column: (comment: string) => string; readonly table: (comment: string) => string }
    | 'statements'
  /** What else a table needs that is not nested, or is. */
  readonly indexes: (table: string, key: readonly string[], isNested: boolean) => readonly string[]
  /** Gives a table that an older version made the columns that it lacks, where that can be said without a look at it. */
  readonly grow?: (table: string, columns: readonly TypedColumn[]) => readonly string[]
  /** What a stage's name begins with: empty for a temporary table. */
  readonly stagePrefix: (schema: string) => string
  /** Makes a stage anew and fills it. The rows follow the last statement where `inlineRows` says so. */
  readonly fill: (stage: Stage) => readonly string[]
  readonly inlineRows?: true
  /** Makes a schema where there is none, if not in the usual words. */
  readonly makeSchema?: (schema: string) => string
  readonly begin: string
  readonly commit: string
  /** Lines before all others of a printed script, for the tool that runs it. */
  readonly toolSettings?: readonly string[]
  /** Statements before all others. */
  readonly settings: readonly string[]
  readonly merge: (merge: Merge) => readonly string[]
  readonly dropOrphans: (orphans: Orphans) => string
}

/** A text in quotes, as the SQL standard has it. */
export function quoted(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}

/** A text in quotes where a backslash means something. */
export function escaped(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`
}

/** The columns of a table in parentheses, one a line. */
export function columnLines(columns: readonly TypedColumn[]): string {
  return `(\n${columns.map(({ name, type }) => `  ${name} ${type}`).join(',\n')}\n)`
}

/** A condition that two aliased tables have the same key. */
export function sameKey(left: string, right: string, key: readonly (readonly [string, string])[]): string {
  return key.map(([ofLeft, ofRight]) => `${left}.${ofLeft} = ${right}.${ofRight}`).join(' and ')
}

/** A condition that a row is of a later version than another. */
export function isNewer(left: string, right: string): string {
  const sameTime = `${left}._synced_at = ${right}._synced_at and ${left}._sequence > ${right}._sequence`
  return `(${left}._synced_at > ${right}._synced_at or (${sameTime}))`
}

/** A condition that a nested row is not of its parent's version. */
export function isOfOtherVersion(child: string, parent: string): string {
  return `(${child}._scan_id <> ${parent}._scan_id or ${child}._sequence <> ${parent}._sequence)`
}

/** MERGE as the standard has it: what is older than the target's row changes nothing, in whatever order loads come. */
export function standardMerge({ target, fresh, columns, key }: Merge): readonly string[] {
  const on = sameKey(
    'kept',
    'fresh',
    key.map((column) => [column, column]),
  )
  const set = columns.filter((column) => !key.includes(column)).map((column) => `  ${column} = fresh.${column}`)
  return [
    [
      `merge into ${target} as kept`,
      `using (\n${fresh}\n) as fresh`,
      `on ${on}`,
      `when matched and ${isNewer('fresh', 'kept')} then update set\n${set.join(',\n')}`,
      `when not matched then insert (${columns.join(', ')})`,
      `values (${columns.map((column) => `fresh.${column}`).join(', ')})`,
    ].join('\n'),
  ]
}

/** Removes nested rows of versions that their parents, as far as these were loaded, have no more. */
export function standardDropOrphans({ target, parent, stage, key }: Orphans): string {
  const parentKey = key.map(([column]) => [column, column] as const)
  return [
    `merge into ${target} as child`,
    `using (select * from ${parent} as newest where exists (select 1 from ${stage} as staged where ${sameKey('staged', 'newest', parentKey)})) as parent`,
    `on ${sameKey('parent', 'child', key)} and ${isOfOtherVersion('child', 'parent')}`,
    'when matched then delete',
  ].join('\n')
}
