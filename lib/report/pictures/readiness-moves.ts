import { utcDate } from '../../core/clock.ts'
import { nameOf, unnamed } from './by-name.ts'
import { dayMs, dayOf, endOf } from './periods.ts'
import type { Fold, Picture, Source, Value } from './picture.ts'
import { compareNames } from './rank.ts'
import { ofReadiness } from './readiness-measures.ts'

const most = 10
const weekMs = 7 * dayMs

/** The seven days before today with today, and the seven before them. */
function weeks(now: number) {
  const change = dayOf(now) - weekMs
  return { begin: change - weekMs, change, end: endOf(now) }
}

const source: Source = {
  reads: [{ table: ofReadiness.table, columns: [ofReadiness.time, 'criterion_id', 'numerator', 'denominator'] }],
  fields: () => [
    { name: 'criterion', title: 'Criterion', kind: 'name' },
    { name: 'before', title: 'The week before', kind: 'share' },
    { name: 'after', title: 'This week', kind: 'share' },
    { name: 'moved', title: 'Moved', kind: 'points' },
  ],
  sql: (_, now) => {
    const { begin, change, end } = weeks(now)
    const time = (ms: number) => `timestamp '${utcDate(ms)}'`
    const share = (when: string) =>
      `coalesce(sum(numerator) filter (${when}), 0) / nullif(coalesce(sum(denominator) filter (${when}), 0), 0)`
    return [
      'select criterion, before, after, after - before as moved',
      'from (',
      `  select coalesce(nullif(criterion_id, ''), '${unnamed}') as criterion,`,
      `    ${share(`created_at < ${time(change)}`)} as before,`,
      `    ${share(`created_at >= ${time(change)}`)} as after`,
      `  from ${ofReadiness.table}`,
      `  where created_at >= ${time(begin)} and created_at < ${time(end)}`,
      '  group by 1',
      ')',
      'where after <> before',
      'order by abs(moved) desc, criterion',
      `limit ${most}`,
    ].join('\n')
  },
  begin: foldOf,
}

function foldOf(now: number): Fold {
  const { begin, change, end } = weeks(now)
  /** Passed and checked of the week before, then of this week. */
  const criteria = new Map<string, [number, number, number, number]>()
  return {
    add: (_, { rows, columns: [times = [], names = [], passed = [], checked = []] }) => {
      for (let row = 0; row < rows; row++) {
        const at = times[row]
        if (typeof at !== 'number' || at < begin || at >= end) continue
        const name = nameOf(names[row])
        const sums = criteria.get(name) ?? [0, 0, 0, 0]
        criteria.set(name, sums)
        const [first, second] = at < change ? ([0, 1] as const) : ([2, 3] as const)
        sums[first] += Number(passed[row] ?? 0)
        sums[second] += Number(checked[row] ?? 0)
      }
    },
    table: () =>
      [...criteria]
        .flatMap(([name, [passed, checked, passedNow, checkedNow]]) => {
          const moved = passedNow / checkedNow - passed / checked
          // NaN where a week has no report: what moved can't be said.
          return Math.abs(moved) > 0
            ? [{ row: [name, passed / checked, passedNow / checkedNow, moved], name, moved }]
            : []
        })
        .sort((a, b) => Math.abs(b.moved) - Math.abs(a.moved) || compareNames(a.name, b.name))
        .slice(0, most)
        .map(({ row }): Value[] => row),
  }
}

/** What became better or worse of late. */
export const readinessMoves: Picture = {
  id: 'readiness-moves',
  group: 'readiness',
  title: () => 'What moved this week: checks that pass, by criterion',
  unit: 'points',
  note: 'Reports of the last seven days and today against those of the seven days before. Criteria that moved most come first.',
  empty: 'No criterion moved between the last two weeks, or one of the two has no report.',
  periods: 'none',
  source,
  chart: () => ({ kind: 'bars', name: 'criterion', length: 'moved' }),
}
