import type { Cell } from '../../streams/table.ts'
import type { Reading } from './picture.ts'
import type { RowBatch } from './ports.ts'

/** A limit that somebody got. */
export type LimitChange = { at: number; limit: number; until: number | null }

/** What is read of changes of limits. */
export const limitReading: Reading = {
  table: 'credit_limit_changes_current',
  columns: ['email', 'recorded_at', 'credit_limit', 'until'],
}

/** Which rows count. Of two changes at the same time the higher limit counts as the later one. */
export const limitRows = 'where email is not null and recorded_at is not null and credit_limit is not null'

/** The changes of each person, as they come. There are about as many as people: limits change seldom. */
export function gatherLimits(into: Map<string, LimitChange[]>, { rows, columns }: RowBatch): void {
  const [emails = [], times = [], limits = [], untils = []] = columns as readonly (readonly Cell[])[]
  for (let row = 0; row < rows; row++) {
    const [email, at, limit, until] = [emails[row], times[row], limits[row], untils[row]]
    if (typeof email !== 'string' || typeof at !== 'number' || typeof limit !== 'number') continue
    const own = into.get(email) ?? []
    into.set(email, own)
    own.push({ at, limit, until: typeof until === 'number' ? until : null })
  }
}

/** Oldest first. */
export function inOrder(changes: readonly LimitChange[]): LimitChange[] {
  return changes.toSorted((a, b) => a.at - b.at || a.limit - b.limit || (a.until ?? 0) - (b.until ?? 0))
}

/** The limit that stands of each person. */
export function standing(people: ReadonlyMap<string, readonly LimitChange[]>): (LimitChange & { email: string })[] {
  return [...people].flatMap(([email, changes]) => {
    const last = inOrder(changes).at(-1)
    return last ? [{ email, ...last }] : []
  })
}

/** The same in SQL: a row per person. */
export const standingSql = [
  'with standing as (',
  '  select email, recorded_at, credit_limit, until,',
  '    row_number() over (partition by email order by recorded_at desc, credit_limit desc, until desc nulls last) as place',
  '  from credit_limit_changes_current',
  `  ${limitRows}`,
  ')',
].join('\n')
