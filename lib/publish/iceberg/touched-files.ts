import { compareCells } from '../../streams/row-order.ts'
import type { Cell } from '../../streams/table.ts'
import { chainsOf } from './chains.ts'
import { columnsNamed, compareKeys, existing } from './inspect.ts'
import type { DataFile } from './manifests.ts'
import { type NewestVersions, newestVersions } from './newest-versions.ts'
import { addressesOf } from './places.ts'
import type { Rewriting } from './rewriting.ts'
import { boundsIn } from './statistics.ts'
import { boundOf } from './values.ts'

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

/** Files that must be written anew, and those that must where they hold a row of a changed record. */
export type Touched = { certain: ReadonlySet<PlacedFile>; perhaps: readonly PlacedFile[] }

/** Marks the files that changes touch. First cells of keys are told in order, those of `changed` records and those of rows that come in. */
export function markTouched(files: readonly PlacedFile[]) {
  const mayHold = createMarker(files)
  const comesIn = createMarker(
    files.map((each, at) => ({ ...each, from: at === 0 ? null : each.from, to: files[at + 1]?.from ?? null })),
  )
  const chosen = (marks: ReadonlySet<number>) => files.filter((_, at) => marks.has(at))
  return {
    changed: mayHold.mark,
    comesIn: comesIn.mark,
    touched: (): Touched => {
      const certain = new Set(chosen(comesIn.marked))
      return { certain, perhaps: chosen(mayHold.marked).filter((each) => !certain.has(each)) }
    },
  }
}

/** Marks ranges in which a cell lies, both ends included; null stands for no limit. The first cell that is not before a range decides. */
function createMarker(ranges: readonly Pick<PlacedFile, 'from' | 'to'>[]) {
  const marked = new Set<number>()
  let next = 0
  const mark = (cell: Cell): void => {
    const bound = boundOf(cell)
    for (let range = ranges[next]; range; range = ranges[next]) {
      if (range.from !== null && compareCells(bound, range.from) < 0) return
      if (range.to === null || compareCells(bound, range.to) <= 0) marked.add(next)
      next += 1
    }
  }
  return { mark, marked }
}

/**
 * Files in as few chains as there can be, in each of which one begins after the one before it has ended. The parts of one
 * record may lie in several files that overlap.
 */
export function fileChains(files: readonly PlacedFile[]): PlacedFile[][] {
  return chainsOf(files, isAfter)
}

function isAfter({ from }: PlacedFile, { to }: PlacedFile): boolean {
  return from !== null && to !== null && compareCells(from, to) > 0
}

/** The files among some that hold a row of a changed record. They are opened, unless an earlier attempt did. */
export async function holdingChanged(files: readonly PlacedFile[], rewriting: Rewriting): Promise<PlacedFile[]> {
  const { mainFiles, progress } = rewriting
  const holding: PlacedFile[] = []
  for (const chain of fileChains(files)) {
    const versions = newestVersions(mainFiles, rewriting)
    for (const each of chain) {
      const { path } = each.file
      const known = progress.state.holding[path]
      const holds = known ?? (await holdsChanged(path, { ...rewriting, versions }))
      if (holds) holding.push(each)
      if (known === undefined) await progress.advance({ holding: { ...progress.state.holding, [path]: holds } })
      await rewriting.stillMine()
    }
  }
  return holding
}

async function holdsChanged(
  path: string,
  { table, main, versions, deps }: Rewriting & { versions: NewestVersions },
): Promise<boolean> {
  const bytes = await existing(addressesOf(deps.address).keyOf(path), deps)
  const columns = columnsNamed(table, table.key.slice(0, main.key.length))
  for await (const group of deps.rows.read(bytes, columns)) {
    for (let row = 0; row < (group[0]?.length ?? 0); row++) {
      if (await versions.seek(group.map((cells) => cells[row] ?? null))) return true
    }
  }
  return false
}
