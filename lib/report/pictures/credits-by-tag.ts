import type { Cell } from '../../streams/table.ts'
import { byName, nameOf, unnamed } from './by-name.ts'
import type { Picture } from './picture.ts'
import { noSession, ofSessions, sessionCount, sessionCredits } from './session-measures.ts'

/** What the credits were spent for, as far as people say it by tags. */
export const creditsByTag: Picture = {
  id: 'credits-by-tag',
  group: 'use',
  title: () => 'Credits by tag',
  unit: 'credits',
  note: 'A session with several tags counts for each of them, so that the tags add up to more than all sessions.',
  empty: noSession,
  periods: 'each',
  source: byName({
    ...ofSessions,
    name: {
      field: { name: 'tag', title: 'Tag', kind: 'name' },
      sql: `coalesce(tags_of.name, '${unnamed}')`,
      join:
        `left join (select distinct session_id, coalesce(nullif(name, ''), '${unnamed}') as name from session_tags_current) ` +
        'as tags_of\n    on tags_of.session_id = sessions_current.session_id',
      column: 'tags',
      of: tagNames(),
    },
    sums: [sessionCount, sessionCredits],
    order: { by: 'credits' },
  }),
  chart: () => ({ kind: 'bars', name: 'tag', length: 'credits' }),
}

/** Lists that were read are few, and are remembered. */
const mostRemembered = 10_000

/** Reads the names in a session's list of tags, each once. */
function tagNames(): (cell: Cell) => readonly string[] {
  const known = new Map<Cell, readonly string[]>()
  return (cell) => {
    const found = known.get(cell)
    if (found) return found
    if (known.size >= mostRemembered) known.clear()
    const names = namesIn(typeof cell === 'string' ? JSON.parse(cell) : null)
    known.set(cell, names)
    return names
  }
}

function namesIn(tags: unknown): readonly string[] {
  const list = Array.isArray(tags) ? tags : []
  const names = list.flatMap((tag) => (isObject(tag) ? [nameOf((tag as { name?: unknown }).name)] : []))
  return names.length === 0 ? [unnamed] : [...new Set(names)]
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
