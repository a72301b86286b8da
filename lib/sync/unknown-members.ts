import type { Scan } from './checkpoint.ts'

type Counted = NonNullable<Scan['unknownMembers']>

// A checkpoint is bounded, and so is what it keeps of these.
const kept = 20

/** Counts what a page's answer held besides its list. `fresh`: the names that the scan had not seen. */
export function countUnknown(before: Counted, names: readonly string[]): { counted: Counted; fresh: string[] } {
  const known = new Map(before.map(({ name, pages }) => [name, pages]))
  const fresh = names.filter((name) => !known.has(name)).slice(0, Math.max(0, kept - known.size))
  for (const name of names) if (known.has(name) || fresh.includes(name)) known.set(name, (known.get(name) ?? 0) + 1)
  return { counted: [...known].map(([name, pages]) => ({ name, pages })), fresh }
}
