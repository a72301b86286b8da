import type { Cell } from '../../streams/table.ts'
import type { Field, Value } from './picture.ts'

/** What is summed up of rows: their number, or a column of theirs, where null counts as nothing. */
export type Measure = Field & { readonly column: string | null }

/** One sum as a part of another: how many passed of those that were tried. */
export type Share = Field & { readonly part: string; readonly whole: string }

/** What is known of a group of rows. */
export type Measures = { readonly sums: readonly Measure[]; readonly share?: Share }

/** The columns that the sums need. */
export function columnsOfSums({ sums }: Measures): string[] {
  return sums.flatMap(({ column }) => (column === null ? [] : [column]))
}

export function fieldsOfMeasures({ sums, share }: Measures): readonly Field[] {
  return share ? [...sums, share] : sums
}

/** The sums over rows, as columns of SQL. */
export function sumsSql({ sums }: Measures): string {
  const sql = ({ name, column }: Measure) =>
    column === null ? `count(*) as ${name}` : `coalesce(sum(${column}), 0) as ${name}`
  return sums.map(sql).join(', ')
}

/** The share of two sums that were made before; null where nothing was tried. */
export function shareSql({ part, whole }: Share, of: (name: string) => string = (name) => name): string {
  return `${of(part)} / nullif(${of(whole)}, 0)`
}

/** Adds a row to the sums that begin at `at`. `cells` are the columns of `columnsOfSums`. */
export function addRow(
  into: { sums: Float64Array; at: number },
  measures: Measures,
  { cells, row }: { cells: readonly (readonly Cell[])[]; row: number },
): void {
  let taken = 0
  for (let n = 0; n < measures.sums.length; n++) {
    const value = measures.sums[n]?.column === null ? 1 : cells[taken++]?.[row]
    if (typeof value === 'number') into.sums[into.at + n] = (into.sums[into.at + n] ?? 0) + value
  }
}

/** The sums and their share as cells of a table. */
export function valuesOf(sums: readonly number[], { sums: declared, share }: Measures): Value[] {
  if (!share) return [...sums]
  const of = (name: string) => sums[declared.findIndex((measure) => measure.name === name)] ?? 0
  return [...sums, of(share.whole) === 0 ? null : of(share.part) / of(share.whole)]
}

/** Which rows count: those with this value in this column. */
export type Only = { readonly column: string; readonly value: string }

type Restricted = { readonly only?: Only }

/** The column that says whether a row counts: it comes last. */
export function columnsOfOnly({ only }: Restricted): string[] {
  return only ? [only.column] : []
}

export function onlySql({ only }: Restricted): string {
  return only ? ` and ${only.column} = '${only.value}'` : ''
}

export function isWanted({ only }: Restricted, cells: readonly (readonly Cell[])[], row: number): boolean {
  return only === undefined || cells.at(-1)?.[row] === only.value
}
