import { type Measures, valuesOf } from './measures.ts'
import type { Value } from './picture.ts'

/** What names are ordered by, most first; or least first, `up`. */
export type Order = { readonly by: string; readonly up?: true }

/** How many names have a line of their own. */
export const namesShown = 10
/** What the rest is called. */
export const others = 'others'

/**
 * The first names in their order, and the rest summed up. Of each name there are its sums and then the number of its
 * rows; the name null is part of the rest.
 */
export function ranked(
  summed: ReadonlyMap<string | null, readonly number[]>,
  { order, ...measures }: Measures & { order: Order },
): Value[][] {
  const fields = measures.share ? [...measures.sums, measures.share] : measures.sums
  const at = fields.findIndex(({ name }) => name === order.by)
  const rows = [...summed].flatMap(([name, counted]) => {
    const sums = counted.slice(0, -1)
    return counted.at(-1) === 0 ? [] : [{ name, sums, rank: valuesOf(sums, measures)[at] ?? null }]
  })
  const named = rows.filter(({ name }) => name !== null).sort(byRank(order))
  const rest = [...named.slice(namesShown), ...rows.filter(({ name }) => name === null)]
  const lines = named.slice(0, namesShown).map(({ name, sums }) => [name, ...valuesOf(sums, measures)])
  if (rest.length === 0) return lines
  const together = measures.sums.map((_, n) => rest.reduce((sum, { sums }) => sum + (sums[n] ?? 0), 0))
  return [...lines, [others, ...valuesOf(together, measures)]]
}

type Ranked = { name: string | null; rank: Value }

/** Nulls last, and of equals the one whose name's bytes come first: as the SQL has it. */
function byRank({ up }: Order) {
  return (a: Ranked, b: Ranked): number => {
    if (a.rank === b.rank) return compareNames(a.name ?? '', b.name ?? '')
    if (a.rank === null || b.rank === null) return a.rank === null ? 1 : -1
    return (Number(a.rank) - Number(b.rank)) * (up ? 1 : -1)
  }
}

const surrogate = /[\ud800-\udfff]/

/** The order of texts as SQL engines have it: by their UTF-8 bytes. It differs from that of JavaScript beyond U+FFFF alone. */
export function compareNames(a: string, b: string): number {
  if (surrogate.test(a) || surrogate.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a === b ? 0 : a < b ? -1 : 1
}
