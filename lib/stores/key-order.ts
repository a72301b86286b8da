import { compareCells, orderColumns } from '../streams/row-order.ts'
import { type Cell, columnsOf } from '../streams/table.ts'
import type { RowBatch } from '../sync/ports.ts'

/** Cells in the order of some of their rows. */
export function inOrder(cells: readonly Cell[], order: Uint32Array): Cell[] {
  const some = new Array<Cell>(order.length)
  for (let i = 0; i < some.length; i++) some[i] = cells[order[i] as number] as Cell
  return some
}

/** The numbers of the rows in the order in which they are published. */
export function keyOrder({ table, columns, rows }: RowBatch): Uint32Array {
  const names = columnsOf(table).map(({ name }) => name)
  const by = orderColumns(table).map((name) => columns[names.indexOf(name)] as Cell[])
  const order = new Uint32Array(rows)
  for (let row = 0; row < rows; row++) order[row] = row
  return order.sort((a, b) => {
    for (const cells of by) {
      const difference = compareCells(cells[a] as Cell, cells[b] as Cell)
      if (difference !== 0) return difference
    }
    return a - b
  })
}
