import { byName, namedBy } from './by-name.ts'
import type { Picture } from './picture.ts'
import { noReport, ofReadiness, passing } from './readiness-measures.ts'

/** What repositories lack most. */
export const readinessByCriterion: Picture = {
  id: 'readiness-by-criterion',
  group: 'readiness',
  title: () => 'Readiness by criterion: the ten that pass least',
  unit: 'passed of checked',
  note: 'Over all reports of the period; a repository that was evaluated twice counts twice.',
  empty: noReport,
  periods: 'each',
  source: byName({
    ...ofReadiness,
    ...passing,
    name: namedBy('criterion_id', { name: 'criterion', title: 'Criterion', kind: 'name' }),
    order: { by: 'share', up: true },
  }),
  chart: () => ({ kind: 'bars', name: 'criterion', length: 'share' }),
}
