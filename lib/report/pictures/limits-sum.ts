import { utcDate } from '../../core/clock.ts'
import { timeField } from './by-time.ts'
import { gatherLimits, inOrder, type LimitChange, limitReading, limitRows } from './limit-changes.ts'
import { beginOf, dayOf, endOf, weekOf } from './periods.ts'
import type { Fold, Picture, Source, Value } from './picture.ts'

const source: Source = {
  reads: [limitReading],
  fields: (period) => [
    timeField(period),
    { name: 'limits', title: 'Sum of limits', kind: 'level' },
    { name: 'changes', title: 'Changes', kind: 'count' },
  ],
  sql: (period, now) => {
    const { name } = timeField(period)
    const start = name === 'week' ? "date_trunc('week', recorded_at)" : 'recorded_at'
    const begin = beginOf(period, now)
    return [
      `select ${name}, limits, changes`,
      'from (',
      `  select strftime(${start}, '%Y-%m-%d') as ${name}, count(*) as changes,`,
      '    sum(sum(change)) over (order by min(recorded_at)) as limits',
      '  from (',
      '    select recorded_at, credit_limit - coalesce(lag(credit_limit) over',
      '      (partition by email order by recorded_at, credit_limit), 0) as change',
      '    from credit_limit_changes_current',
      `    ${limitRows}`,
      '  )',
      `  where recorded_at < timestamp '${utcDate(endOf(now))}'`,
      '  group by 1',
      ')',
      ...(begin === null ? [] : [`where ${name} >= '${utcDate(begin)}'`]),
      'order by 1',
    ].join('\n')
  },
  begin: foldOf,
}

function foldOf(now: number): Fold {
  const people = new Map<string, LimitChange[]>()
  return {
    add: (_, batch) => gatherLimits(people, batch),
    table: (period) => {
      const start = period.days === null ? weekOf : dayOf
      const days = new Map<number, { change: number; changes: number }>()
      for (const changes of people.values()) {
        let before = 0
        for (const { at, limit } of inOrder(changes)) {
          const day = days.get(start(at)) ?? { change: 0, changes: 0 }
          if (at < endOf(now)) days.set(start(at), { change: day.change + limit - before, changes: day.changes + 1 })
          before = limit
        }
      }
      let limits = 0
      const begin = beginOf(period, now) ?? Number.NEGATIVE_INFINITY
      return [...days]
        .sort(([a], [b]) => a - b)
        .map(([day, { change, changes }]): { day: number; row: Value[] } => {
          limits += change
          return { day, row: [utcDate(day), limits, changes] }
        })
        .filter(({ day }) => day >= begin)
        .map(({ row }) => row)
    },
  }
}

/** What all limits together allow. */
export const limitsSum: Picture = {
  id: 'limits-sum',
  group: 'limits',
  title: (period) => `Sum of all credit limits, by the ${timeField(period).name} of a change`,
  unit: 'credits',
  note: 'Of the limits that this installation set; those that were set elsewhere are not known to it.',
  empty: 'No credit limit was changed in this period.',
  periods: 'each',
  source,
  chart: (period) => ({ kind: 'line', x: timeField(period).name, y: 'limits', steps: true }),
}
