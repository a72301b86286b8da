import { type KeyTable, Kind } from './key-table.ts'
import type { OfParent } from './ports.ts'

/** Remembers that a parent's list was read to its end, in the pass that read it. Answers the mark's number. */
export function setMark(table: KeyTable, { key, mark }: NonNullable<OfParent['completes']>, pass: number): number {
  const found = table.find(key)
  const at = found < 0 ? table.add(key) : found
  table.setHash(at, mark)
  table.mark(at, Kind.mark, pass)
  return at
}

/** Forgets what is known of the lists of parents that are gone: one that comes back is read. Answers the marks' numbers. */
export function forgetMarks(table: KeyTable, parents: Iterable<string>): number[] {
  const known = [...parents].map(table.find).filter((at) => at >= 0)
  for (const at of known) table.clearHash(at)
  return known
}

/** The pass of the scan in which the list of a parent, as it stands in keys, was read to its end; 0 when in none. */
export function passOf(table: KeyTable, parent: string): number {
  const at = table.find(parent)
  return at < 0 ? 0 : table.pass(at)
}
