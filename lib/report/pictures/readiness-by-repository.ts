import { byName, nameOf, unnamed } from './by-name.ts'
import type { Picture } from './picture.ts'
import { noReport, ofReadiness, passing } from './readiness-measures.ts'

/** Which repositories need most work. */
export const readinessByRepository: Picture = {
  id: 'readiness-by-repository',
  group: 'readiness',
  title: () => 'Readiness by repository: the ten that pass least',
  unit: 'passed of checked',
  note: 'Over all reports of the period. Repositories are named by their address without the host.',
  empty: noReport,
  periods: 'each',
  source: byName({
    ...ofReadiness,
    ...passing,
    name: {
      field: { name: 'repository', title: 'Repository', kind: 'name' },
      sql: `coalesce(nullif(regexp_replace(repo_url, '^[a-z+]+://[^/]*/', ''), ''), '${unnamed}')`,
      column: 'repo_url',
      of: (cell) => [nameOf(typeof cell === 'string' ? cell.replace(/^[a-z+]+:\/\/[^/]*\//, '') : cell)],
    },
    order: { by: 'share', up: true },
  }),
  chart: () => ({ kind: 'bars', name: 'repository', length: 'share' }),
}
