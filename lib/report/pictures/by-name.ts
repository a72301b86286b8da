import type { Cell } from '../../streams/table.ts'
import {
  addRow,
  columnsOfOnly,
  columnsOfSums,
  fieldsOfMeasures,
  isWanted,
  type Measures,
  type Only,
  onlySql,
  shareSql,
  sumsSql,
} from './measures.ts'
import { bandsOf, type Period, periods, within } from './periods.ts'
import type { Field, Fold, Source } from './picture.ts'
import type { RowBatch } from './ports.ts'
import { namesShown, type Order, others, ranked } from './rank.ts'

/** What stands by each name. */
export type ByName = Measures & {
  readonly table: string
  /** The column that says when. */
  readonly time: string
  readonly name: Naming
  readonly order: Order
  readonly only?: Only
}

/** How a row is named: in SQL, and by a column that may give it several names. */
export type Naming = {
  readonly field: Field
  /** An expression over the row, and what it joins. */
  readonly sql: string
  readonly join?: string
  readonly column: string
  readonly of: (cell: Cell) => readonly string[]
  /** Where the names that people gave stand: a table with the column's values as its key. */
  readonly given?: { readonly table: string; readonly key: string; readonly name: string }
}

/** What stands for no name. */
export const unnamed = '(none)'

/** How many names are told apart. Whoever makes up a name for each session must not fill the memory. */
const mostNames = 50_000

/** Names a row by one of its columns. */
export function namedBy(column: string, field: Field): Naming {
  return { field, sql: `coalesce(nullif(${column}, ''), '${unnamed}')`, column, of: (cell) => [nameOf(cell)] }
}

/** A cell as a name. */
export function nameOf(cell: unknown): string {
  return typeof cell === 'string' && cell !== '' ? cell : unnamed
}

/** Rows summed up by name: the first ten, and all others together. */
export function byName(asked: ByName): Source {
  const { table, time, name } = asked
  const { given } = name
  return {
    reads: [
      { table, columns: [time, name.column, ...columnsOfSums(asked), ...columnsOfOnly(asked)] },
      ...(given ? [{ table: given.table, columns: [given.key, given.name] }] : []),
    ],
    fields: () => [name.field, ...fieldsOfMeasures(asked)],
    sql: (period, now) => sqlOf(asked, period, now),
    begin: (now) => foldOf(asked, now),
  }
}

function sqlOf(asked: ByName, period: Period, now: number): string {
  const { sums, share, order } = asked
  const { field, sql, join } = asked.name
  const rank = share?.name === order.by ? shareSql(share) : order.by
  const shares = share ? `, ${shareSql(share, (name) => `sum(${name})`)} as ${share.name}` : ''
  const last = `nulls last, ${field.name}`
  return [
    'with named as (',
    `  select ${sql} as ${field.name}, ${sumsSql(asked)}`,
    `  from ${asked.table}${join ? `\n  ${join}` : ''}`,
    `  where ${within(`${asked.table}.${asked.time}`, period, now)}${onlySql(asked)}`,
    '  group by 1',
    '), ranked as (',
    `  select *, row_number() over (order by ${rank} ${order.up ? 'asc' : 'desc'} ${last}) as place from named`,
    ')',
    `select if(min(place) <= ${namesShown}, min(${field.name}), '${others}') as ${field.name},`,
    `  ${sums.map((sum) => `sum(${sum.name}) as ${sum.name}`).join(', ')}${shares}`,
    'from ranked',
    `group by least(place, ${namesShown + 1})`,
    'order by min(place)',
  ].join('\n')
}

function foldOf(asked: ByName, now: number): Fold {
  const given = new Map<string, string>()
  const bandOf = bandsOf(now)
  // The last of each period's counts rows: sums may add up to nothing.
  const size = asked.sums.length + 1
  const { names, beyond, sumsOf } = nameSums(size)
  const add = ({ rows, columns: [times = [], labels = [], ...cells] }: RowBatch) => {
    for (let row = 0; row < rows; row++) {
      const at = times[row]
      const band = typeof at === 'number' ? bandOf(at) : -1
      if (band < 0 || !isWanted(asked, cells, row)) continue
      for (const name of asked.name.of(labels[row] ?? null)) {
        const sums = sumsOf(name)
        addRow({ sums, at: band * size }, asked, { cells, row })
        sums[band * size + size - 1] = (sums[band * size + size - 1] ?? 0) + 1
      }
    }
  }
  return {
    add: (reading, batch) => (reading === 0 ? add(batch) : noteNames(given, batch)),
    table: (period) => {
      const bands = periods.indexOf(period) + 1
      const summed = new Map<string | null, number[]>([[null, firstBands(beyond, bands, size)]])
      for (const [name, all] of names) {
        const label = given.get(name) ?? name
        const own = firstBands(all, bands, size)
        summed.set(label, summed.get(label)?.map((sum, at) => sum + (own[at] ?? 0)) ?? own)
      }
      return ranked(summed, asked)
    },
  }
}

/** Sums of each name, one after the other for each period, without those of the periods inside of it. */
function nameSums(size: number) {
  const names = new Map<string, Float64Array>()
  /** Those of what has no place among the names that are told apart. */
  const beyond = new Float64Array(size * periods.length)
  const sumsOf = (name: string) => {
    const known = names.get(name)
    if (known) return known
    if (names.size >= mostNames) return beyond
    const sums = new Float64Array(size * periods.length)
    names.set(name, sums)
    return sums
  }
  return { names, beyond, sumsOf }
}

function noteNames(given: Map<string, string>, { rows, columns: [keys = [], names = []] }: RowBatch): void {
  for (let row = 0; row < rows; row++) {
    const [key, name] = [keys[row], names[row]]
    if (typeof key === 'string' && typeof name === 'string' && name !== '') given.set(key, name)
  }
}

function firstBands(all: Float64Array, bands: number, size: number): number[] {
  const sums = new Array<number>(size).fill(0)
  for (let at = 0; at < bands * size; at++) sums[at % size] = (sums[at % size] ?? 0) + (all[at] ?? 0)
  return sums
}
