import type { IdentifiedColumn } from '../../streams/field-ids.ts'
import type { Cell } from '../../streams/table.ts'
import { compareKeys } from './inspect.ts'
import type { RowGroup } from './ports.ts'

/** Rows of one source in the order of the key, of which `wanted` ones are taken. */
export type SortedRows = {
  groups: AsyncIterable<RowGroup> | Iterable<RowGroup>
  wanted: (group: RowGroup) => (row: number) => boolean
}

/** A place in a source: a wanted row, and its key. */
type Place = { group: RowGroup; row: number; key: Cell[] }

/** A source at the place that comes next of it. `number`: where it stands among the sources. */
type Standing = { rows: ReturnType<typeof wantedRows>; number: number; place: Place }

/**
 * Merges sources into one by the order of their key; of equal keys an earlier source's comes first. Of each source one group
 * of rows is in memory. `take` is given the rows one by one, and may wait.
 */
export async function mergeRows(
  sources: readonly SortedRows[],
  columns: readonly Pick<IdentifiedColumn, 'name'>[],
  { key, take }: { key: readonly string[]; take: (group: RowGroup, row: number) => Promise<void> | undefined },
): Promise<void> {
  const keyAt = key.map((name) => columns.findIndex((column) => column.name === name))
  const line: Standing[] = []
  for (const [number, source] of sources.entries()) {
    const rows = wantedRows(source, keyAt)
    const { value } = await rows.next()
    if (value) queue(line, { rows, number, place: value })
  }
  for (let first = line.shift(); first; first = line.shift()) {
    const { group, row } = first.place
    const waiting = take(group, row)
    if (waiting) await waiting
    const { value } = first.rows.step() ?? (await first.rows.next())
    if (value) queue(line, { ...first, place: value })
  }
}

/** Puts a source where its next row belongs in a line that is in order. */
function queue(line: Standing[], next: Standing): void {
  let [from, to] = [0, line.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (isBefore(line[middle] as Standing, next)) from = middle + 1
    else to = middle
  }
  line.splice(from, 0, next)
}

function isBefore(a: Standing, b: Standing): boolean {
  return (compareKeys(a.place.key, b.place.key) || a.number - b.number) < 0
}

/** Walks through the wanted rows of a source. `step` stays within a group, so that most steps wait for nothing. */
function wantedRows({ groups, wanted }: SortedRows, keyAt: readonly number[]) {
  const iterator = Symbol.asyncIterator in groups ? groups[Symbol.asyncIterator]() : groups[Symbol.iterator]()
  let group: RowGroup = []
  let rows = 0
  let row = -1
  let isWanted: (row: number) => boolean = () => false
  const step = (): { value: Place } | null => {
    for (row += 1; row < rows; row++) {
      if (isWanted(row)) return { value: { group, row, key: keyAt.map((at) => group[at]?.[row] ?? null) } }
    }
    return null
  }
  const next = async (): Promise<{ value: Place | null }> => {
    for (;;) {
      const found = step()
      if (found) return found
      const more = await iterator.next()
      if (more.done) return { value: null }
      group = more.value
      rows = group[0]?.length ?? 0
      row = -1
      isWanted = wanted(group)
    }
  }
  return { step, next }
}
