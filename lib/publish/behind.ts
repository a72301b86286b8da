import type { BehindTable, PublishState } from './manifest.ts'

/** A table that lacks what is published, by its name. */
export type TableBehind = BehindTable & { table: string }

/** The tables that are behind, or those of some names among them, in the order of their names. */
export function tablesIn(behind: PublishState['behind'], names = Object.keys(behind)): TableBehind[] {
  return Object.entries(behind)
    .filter(([table]) => names.includes(table))
    .map(([table, stands]) => ({ table, ...stands }))
    .sort((a, b) => (a.table < b.table ? -1 : 1))
}

/** Whether another attempt may bring tables further: there was no time, and this one has or did not come to all (`moves`), or what failed may pass. */
export function mayComeFurther(behind: readonly TableBehind[], moves: boolean): boolean {
  return behind.some(({ reason, mayPass }) => (reason === null ? moves : mayPass === true))
}

/** A sentence about a table that is behind. */
export function behindText({ table, since, reason }: Pick<TableBehind, 'table' | 'since' | 'reason'>): string {
  return `table ${table} is behind since ${since}: ${reason ?? 'there was no time for it yet'}`
}
