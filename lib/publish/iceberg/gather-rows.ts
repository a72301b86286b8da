import type { Cell } from '../../streams/table.ts'
import type { RowGroup } from './ports.ts'

/** Rows of several groups that become groups of their own. */
export type RowGatherer = {
  /** Takes a row of a group; true when with it a group was full and handed over. */
  take(from: RowGroup, row: number): boolean
  /** Hands over what waits, if anything does. */
  flush(): void
}

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
  const flush = () => {
    if (rowsIn.length === 0) return
    const group = Array.from({ length: columns }, (_, at) => gathered(at, { froms, rowsIn }))
    froms = []
    rowsIn = []
    onGroup(group)
  }
  const take = (from: RowGroup, row: number): boolean => {
    froms.push(from)
    if (rowsIn.push(row) < groupRows) return false
    flush()
    return true
  }
  return { take, flush }
}

/** The cells of a column in rows of several groups: `froms` has the group of each row, `rowsIn` its number there. */
function gathered(at: number, { froms, rowsIn }: { froms: readonly RowGroup[]; rowsIn: readonly number[] }): Cell[] {
  const cells = new Array<Cell>(rowsIn.length)
  for (let i = 0; i < cells.length; i++) cells[i] = froms[i]?.[at]?.[rowsIn[i] as number] ?? null
  return cells
}
