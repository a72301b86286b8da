import { type Cell, cellBytes } from '../../streams/table.ts'
import type { RowGroup } from './ports.ts'

/** Rows of several groups that become groups of their own. */
export type RowGatherer = {
  /** Takes a row of a group, and hands the rows over when with it they are a full one. */
  take(from: RowGroup, row: number): void
  /** Hands over what waits, if anything does. */
  flush(): void
}

/** Where a group ends however few its rows are: a message may be as long as a book. */
export const groupBytes = 32 * 1024 * 1024

/**
 * Gathers rows into groups of some size. It notes where they stand, and takes their cells column by column, which is
 * quicker than row by row.
 */
export function createRowGatherer(
  columns: number,
  { groupRows, onGroup }: { groupRows: number; onGroup: (group: RowGroup) => void },
): RowGatherer {
  let froms: RowGroup[] = []
  let rowsIn: number[] = []
  let bytes = 0
  const flush = () => {
    if (rowsIn.length === 0) return
    const group = Array.from({ length: columns }, (_, at) => gathered(at, { froms, rowsIn }))
    froms = []
    rowsIn = []
    bytes = 0
    onGroup(group)
  }
  const take = (from: RowGroup, row: number): void => {
    froms.push(from)
    bytes += rowBytes(from, row)
    if (rowsIn.push(row) >= groupRows || bytes >= groupBytes) flush()
  }
  return { take, flush }
}

/** The cells of a column in rows of several groups: `froms` has the group of each row, `rowsIn` its number there. */
function gathered(at: number, { froms, rowsIn }: { froms: readonly RowGroup[]; rowsIn: readonly number[] }): Cell[] {
  const cells = new Array<Cell>(rowsIn.length)
  for (let i = 0; i < cells.length; i++) cells[i] = froms[i]?.[at]?.[rowsIn[i] as number] ?? null
  return cells
}

function rowBytes(group: RowGroup, row: number): number {
  let bytes = 0
  for (const cells of group) bytes += cellBytes(cells[row] ?? null)
  return bytes
}
