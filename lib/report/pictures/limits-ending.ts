import { utcDate } from '../../core/clock.ts'
import { gatherLimits, type LimitChange, limitReading, standing, standingSql } from './limit-changes.ts'
import { dayMs, dayOf, endOf } from './periods.ts'
import type { Picture, Source, Value } from './picture.ts'
import { compareNames } from './rank.ts'

const most = 20
const ahead = 30

const source: Source = {
  reads: [limitReading],
  fields: () => [
    { name: 'person', title: 'Person', kind: 'name' },
    { name: 'credit_limit', title: 'Limit', kind: 'level' },
    { name: 'until', title: 'Until', kind: 'day' },
  ],
  sql: (_, now) =>
    [
      standingSql,
      "select email as person, credit_limit, strftime(until, '%Y-%m-%d') as until",
      'from standing',
      `where place = 1 and standing.until >= timestamp '${utcDate(dayOf(now))}'`,
      `  and standing.until < timestamp '${utcDate(endOf(now) + ahead * dayMs)}'`,
      'order by standing.until, person',
      `limit ${most}`,
    ].join('\n'),
  begin: (now) => {
    const people = new Map<string, LimitChange[]>()
    const isSoon = (until: number) => until >= dayOf(now) && until < endOf(now) + ahead * dayMs
    return {
      add: (_, batch) => gatherLimits(people, batch),
      table: () =>
        standing(people)
          .flatMap(({ until, ...rest }) => (until !== null && isSoon(until) ? [{ ...rest, until }] : []))
          .sort((a, b) => a.until - b.until || compareNames(a.email, b.email))
          .slice(0, most)
          .map(({ email, limit, until }): Value[] => [email, limit, utcDate(until)]),
    }
  },
}

/** Whose limit ends soon. */
export const limitsEnding: Picture = {
  id: 'limits-ending',
  group: 'limits',
  title: () => `Credit limits that end within ${ahead} days`,
  unit: 'credits',
  note: 'Limits that were set by hand with a last day. After it the policy decides, where there is one.',
  empty: 'No credit limit ends soon.',
  periods: 'none',
  source,
  chart: () => ({ kind: 'none' }),
}
