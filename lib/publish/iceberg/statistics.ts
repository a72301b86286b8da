import type { IdentifiedColumn } from '../../streams/field-ids.ts'
import { compareCells } from '../../streams/row-order.ts'
import type { Cell, Table } from '../../streams/table.ts'
import { boundOf, decodeValue, encodeValue } from './values.ts'

/** What engines know of a column of a file without opening it. Bounds are absent when there is no value. */
export type ColumnStatistics = {
  id: number
  values: number
  nulls: number
  lower: Uint8Array | null
  upper: Uint8Array | null
}

/** The columns whose bounds let engines skip files: those of the key, and times. Bounds of other texts and measures let skip none. */
export function boundedColumns<C extends IdentifiedColumn>(table: Table, columns: readonly C[]): C[] {
  return columns.filter(({ name, type }) => type === 'timestamp' || table.key.includes(name))
}

/** Gathers statistics of columns, batch by batch. */
export function gatherStatistics(columns: readonly IdentifiedColumn[]) {
  const found = columns.map((column) => ({ column, values: 0, nulls: 0, least: null as Cell, most: null as Cell }))
  return {
    /** The cells of a batch, in the order of the columns. */
    add: (cells: readonly (readonly Cell[])[]) => {
      for (const [at, of] of found.entries()) {
        for (const cell of cells[at] ?? []) {
          of.values += 1
          if (cell === null) of.nulls += 1
          else if (of.least === null) of.least = of.most = cell
          else if (compareCells(cell, of.least) < 0) of.least = cell
          else if (compareCells(cell, of.most) > 0) of.most = cell
        }
      }
    },
    statistics: (): ColumnStatistics[] =>
      found.map(({ column: { id, type }, values, nulls, least, most }) => {
        const encoded = (cell: Cell) => (cell === null ? null : encodeValue(cell, type))
        // A shortened text is a lower bound still, but no upper one.
        const upper = boundOf(most) === most ? encoded(most) : null
        return { id, values, nulls, lower: encoded(boundOf(least)), upper }
      }),
  }
}

/** The lowest and the highest value of a column in a file; null where bounds don't tell. */
export function boundsIn(
  statistics: readonly ColumnStatistics[],
  { id, type }: IdentifiedColumn,
): { lowest: Cell; highest: Cell } {
  const { lower = null, upper = null } = statistics.find((each) => each.id === id) ?? {}
  return { lowest: lower && decodeValue(lower, type), highest: upper && decodeValue(upper, type) }
}
