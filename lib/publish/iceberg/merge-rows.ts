import type { IdentifiedColumn } from '../../streams/field-ids.ts'
import type { Cell } from '../../streams/table.ts'
import { compareKeys } from './inspect.ts'
import type { RowGroup } from './ports.ts'

/** Rows of one source in the order of the key, of which `wanted` ones are taken. */
export type SortedRows = { groups: AsyncIterable<RowGroup>; wanted: (group: RowGroup) => (row: number) => boolean }

/** A place in a source: a wanted row, and its key. */
type Place = { group: RowGroup; row: number; key: Cell[] }

/**
 * Merges sources into one by the order of their key. Of each source one group of rows is in memory. `take` is given the
 * rows one by one, and may wait.
 */
export async function mergeRows(
  sources: readonly SortedRows[],
  columns: readonly Pick<IdentifiedColumn, 'name'>[],
  { key, take }: { key: readonly string[]; take: (group: RowGroup, row: number) => Promise<void> | undefined },
): Promise<void> {
  const keyAt = key.map((name) => columns.findIndex((column) => column.name === name))
  const iterators = sources.map((source) => wantedRows(source, keyAt))
  const places: { iterator: (typeof iterators)[number]; at: { value: Place | null } }[] = []
  for (const iterator of iterators) places.push({ iterator, at: await iterator.next() })
  for (;;) {
    const open = places.filter(({ at }) => at.value !== null)
    const [first, ...others] = open
    if (!first) return
    const least = others.reduce((a, b) => (compareKeys(keyOf(b), keyOf(a)) < 0 ? b : a), first)
    const { group, row } = least.at.value as Place
    const waiting = take(group, row)
    if (waiting) await waiting
    const next = least.iterator.step()
    least.at = next ?? (await least.iterator.next())
  }
}

function keyOf({ at }: { at: { value: Place | null } }): Cell[] {
  return at.value?.key ?? []
}

/** Walks through the wanted rows of a source. `step` stays within a group, so that most steps wait for nothing. */
function wantedRows({ groups, wanted }: SortedRows, keyAt: readonly number[]) {
  const iterator = groups[Symbol.asyncIterator]()
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
