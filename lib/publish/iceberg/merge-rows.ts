import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import type { IdentifiedColumn } from '../../streams/field-ids.ts'
import type { Cell } from '../../streams/table.ts'
import { compareKeys } from './inspect.ts'
import type { RowGroup } from './ports.ts'

/** Rows in the order of their key, group by group. */
export type SortedRows = AsyncIterable<RowGroup> | Iterable<RowGroup>

/** A row of a source: its group, its number there, its key, and the number of the source. */
export type Place = { group: RowGroup; row: number; key: readonly Cell[]; source: number }

/** A source that stands at a row. */
type Standing = { walk: ReturnType<typeof walkThrough>; place: Place }

const placesAtOnce = 1_000

/**
 * Merges sources into one by the order of their key; of equal keys an earlier source's comes first. Answers rows as many as
 * can be worked on before anything else has its turn, and lets it have it: answers of S3 that nobody takes run out. Of each
 * source one group of rows is in memory.
 */
export async function* mergedRows(
  sources: readonly SortedRows[],
  columns: readonly Pick<IdentifiedColumn, 'name'>[],
  key: readonly string[],
): AsyncGenerator<readonly Place[]> {
  const keyAt = key.map((name) => columns.findIndex((column) => column.name === name))
  const line: Standing[] = []
  for (const [number, rows] of sources.entries()) {
    const walk = walkThrough(rows, { keyAt, number })
    const place = await walk.next()
    if (place) queue(line, { walk, place })
  }
  let places: Place[] = []
  for (let first = line.shift(); first; first = line.shift()) {
    if (places.push(first.place) === placesAtOnce) {
      yield places
      places = []
      await eventLoopTurn()
    }
    const place = first.walk.step() ?? (await first.walk.next())
    if (place) queue(line, { walk: first.walk, place })
  }
  if (places.length > 0) yield places
}

/** Puts a source where its next row belongs in a line that is in order. */
function queue(line: Standing[], next: Standing): void {
  let [from, to] = [0, line.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (isBefore((line[middle] as Standing).place, next.place)) from = middle + 1
    else to = middle
  }
  line.splice(from, 0, next)
}

function isBefore(a: Place, b: Place): boolean {
  return (compareKeys(a.key, b.key) || a.source - b.source) < 0
}

/** Walks through the rows of a source. `step` stays within a group, so that most steps wait for nothing; null at its end. */
function walkThrough(rows: SortedRows, { keyAt, number }: { keyAt: readonly number[]; number: number }) {
  const iterator = Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]()
  let group: RowGroup = []
  let count = 0
  let row = -1
  const step = (): Place | null => {
    row += 1
    if (row >= count) return null
    return { group, row, key: keyAt.map((at) => group[at]?.[row] ?? null), source: number }
  }
  const next = async (): Promise<Place | null> => {
    for (;;) {
      const more = await iterator.next()
      if (more.done) return null
      group = more.value
      count = group[0]?.length ?? 0
      row = -1
      const place = step()
      if (place) return place
    }
  }
  return { step, next }
}
