import { FatalError } from '../core/errors.ts'
import { streams } from '../streams/index.ts'
import { runsTable } from '../streams/runs-table.ts'
import type { Table } from '../streams/table.ts'

/** Tables that are loaded together: one whose rows stand for themselves, and those that hold parts of its rows. */
export type Group = { readonly main: Table; readonly nested: readonly Table[] }

const groups: readonly Group[] = streams.flatMap(({ tables: [main, ...nested], observedTables = [] }) => [
  { main, nested },
  ...observedTables.map((table) => ({ main: table, nested: [] })),
])

/** All tables of a group, the main one first. */
export function tablesIn({ main, nested }: Group): readonly Table[] {
  return [main, ...nested]
}

/**
 * The groups that some tables are in; all, without names. A nested table is never loaded alone: which of its rows count,
 * its parent says.
 * @throws FatalError `usage`, with the names there are.
 */
export function groupsOf(names: readonly string[]): readonly Group[] {
  const tables = groups.flatMap((group) => tablesIn(group).map(({ name }) => name))
  const known = new Set([...tables, runsTable.name])
  const unknown = names.find((name) => !known.has(name))
  if (unknown !== undefined) {
    throw new FatalError(`There is no table "${unknown}". The tables are: ${[...known].join(', ')}.`, { code: 'usage' })
  }
  return names.length === 0
    ? groups
    : groups.filter((group) => tablesIn(group).some(({ name }) => names.includes(name)))
}

/** Whether the table of runs, which is in no group, is among those that are named. */
export function includesRuns(names: readonly string[]): boolean {
  return names.length === 0 || names.includes(runsTable.name)
}
