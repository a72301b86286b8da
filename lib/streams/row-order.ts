import type { Cell, Table } from './table.ts'

/** The columns in whose order a file's rows are: the table's key, and of two versions of a record the older one first. */
export function orderColumns({ key }: Pick<Table, 'key'>): string[] {
  return [...key, '_synced_at', '_sequence']
}

/** Order of two cells of one column: numbers by value, texts by their UTF-8 bytes, as Iceberg's bounds are. Null comes first. */
export function compareCells(a: Cell, b: Cell): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? -1 : 1
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  return a < b ? -1 : 1
}

/** UTF-16 puts the pairs of rare characters before the last of the others; UTF-8 does not. */
function compareTexts(a: string, b: string): number {
  const end = Math.min(a.length, b.length)
  for (let at = 0; at < end; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (left !== right) return rankOf(left) - rankOf(right)
  }
  return a.length - b.length
}

function rankOf(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
