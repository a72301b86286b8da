import type { Cell } from '../../streams/table.ts'
import { columnsNamed, compareKeys, existing } from './inspect.ts'
import type { DataFile } from './manifests.ts'
import { addressesOf } from './places.ts'
import type { Rewriting } from './rewriting.ts'
import { boundsIn } from './statistics.ts'
import { boundOf, compareCells } from './values.ts'
import { versionReader } from './versions.ts'

/**
 * A file of a current table with the lowest and the highest first cell of its keys, as far as bounds tell. What comes in
 * goes where it lies between the beginnings of two files.
 */
export type PlacedFile = { file: DataFile; from: Cell; to: Cell }

/** The files of a current table in the order of their keys. */
export function placed(files: readonly DataFile[], { table }: Pick<Rewriting, 'table'>): PlacedFile[] {
  const [first, second] = columnsNamed(table, table.key)
  const found = files.map((file) => {
    const { lowest: from, highest: to } = boundsIn(file.statistics, first!)
    return { file, from, to, next: second ? boundsIn(file.statistics, second).lowest : null }
  })
  // Files that begin with the same record's parts go by where they end, and within one record by the part's key.
  return found.sort((a, b) => compareKeys([a.from, ...last(a.to), a.next], [b.from, ...last(b.to), b.next]))
}

/** Puts a bound that is not known behind all others, where `compareKeys` has null first. */
function last(cell: Cell): Cell[] {
  return [cell === null ? 1 : 0, cell]
}

/** First cells of keys, in order, for searching. */
export function sortedCells(cells: Iterable<Cell>): Cell[] {
  return [...new Set([...cells].map(boundOf))].sort(compareCells)
}

/** Whether one of the sorted cells lies between two others, both included; null stands for no limit. */
function anyBetween(cells: readonly Cell[], from: Cell, to: Cell): boolean {
  let [low, high] = [0, cells.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (from !== null && compareCells(cells[middle] ?? null, from) < 0) low = middle + 1
    else high = middle
  }
  const found = cells[low]
  return found !== undefined && (to === null || compareCells(found, to) <= 0)
}

/**
 * The files that must be written anew: those that hold a row of a changed record, and those into whose range a row comes.
 * Only files whose range has a changed key are opened.
 */
export async function touchedFiles(
  files: readonly PlacedFile[],
  { changed, coming }: { changed: readonly Cell[]; coming: readonly Cell[] },
  rewriting: Rewriting,
): Promise<Set<PlacedFile>> {
  const touched = new Set<PlacedFile>()
  for (const [at, each] of files.entries()) {
    const comesIn = anyBetween(coming, at === 0 ? null : each.from, files[at + 1]?.from ?? null)
    const mayHold = anyBetween(changed, each.from, each.to)
    const isTouched = comesIn || (mayHold && (await holdsChanged(each.file, rewriting)))
    if (isTouched) touched.add(each)
  }
  return touched
}

async function holdsChanged({ path }: DataFile, { table, recordKey, versions, deps }: Rewriting): Promise<boolean> {
  const columns = columnsNamed(table, recordKey)
  const bytes = await existing(addressesOf(deps.address).keyOf(path), deps)
  for await (const group of deps.rows.read(bytes, columns)) {
    const { keyAt } = versionReader(group, columns, recordKey)
    for (let row = 0; row < (group[0]?.length ?? 0); row++) if (versions.has(keyAt(row))) return true
  }
  return false
}
