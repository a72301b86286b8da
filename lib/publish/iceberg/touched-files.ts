import type { Cell } from '../../streams/table.ts'
import { columnsNamed, existing } from './inspect.ts'
import type { DataFile } from './manifests.ts'
import { addressesOf } from './places.ts'
import type { Rewriting } from './rewriting.ts'
import { lowestIn } from './statistics.ts'
import { boundOf, compareCells } from './values.ts'
import { versionReader } from './versions.ts'

/** A file of a current table with where it begins: it covers all keys from there up to the beginning of the next one. */
export type PlacedFile = { file: DataFile; from: Cell }

/** The files of a current table in the order of their keys. */
export function placed(files: readonly DataFile[], { table }: Pick<Rewriting, 'table'>): PlacedFile[] {
  const [first] = columnsNamed(table, table.key)
  const found = files.map((file) => ({ file, from: first ? lowestIn(file.statistics, first) : null }))
  return found.sort((a, b) => compareCells(a.from, b.from))
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
    const from = at === 0 ? null : each.from
    const to = files[at + 1]?.from ?? null
    const isTouched =
      anyBetween(coming, from, to) || (anyBetween(changed, from, to) && (await holdsChanged(each.file, rewriting)))
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
