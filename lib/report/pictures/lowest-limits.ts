import { utcDate } from '../../core/clock.ts'
import { gatherLimits, type LimitChange, limitReading, standing, standingSql } from './limit-changes.ts'
import type { Picture, Source, Value } from './picture.ts'
import { compareNames } from './rank.ts'

const most = 10

const source: Source = {
  reads: [limitReading],
  fields: () => [
    { name: 'person', title: 'Person', kind: 'name' },
    { name: 'credit_limit', title: 'Limit', kind: 'level' },
    { name: 'since', title: 'Since', kind: 'day' },
  ],
  sql: () =>
    [
      standingSql,
      "select email as person, credit_limit, strftime(recorded_at, '%Y-%m-%d') as since",
      'from standing',
      'where place = 1',
      'order by credit_limit, person',
      `limit ${most}`,
    ].join('\n'),
  begin: () => {
    const people = new Map<string, LimitChange[]>()
    return {
      add: (_, batch) => gatherLimits(people, batch),
      table: () =>
        standing(people)
          .sort((a, b) => a.limit - b.limit || compareNames(a.email, b.email))
          .slice(0, most)
          .map(({ email, limit, at }): Value[] => [email, limit, utcDate(at)]),
    }
  },
}

/** Who may spend next to nothing. */
export const lowestLimits: Picture = {
  id: 'lowest-limits',
  group: 'limits',
  title: () => 'The ten lowest credit limits',
  unit: 'credits',
  note:
    'How much of a limit is used up can not be said: the platform names no person on a session. ' +
    'So these are the people whose limit itself is near nothing.',
  empty: 'No credit limit is known.',
  periods: 'none',
  source,
  chart: () => ({ kind: 'bars', name: 'person', length: 'credit_limit' }),
}
