import { utcDate } from '../../core/clock.ts'
import {
  addRow,
  columnsOfOnly,
  columnsOfSums,
  fieldsOfMeasures,
  isWanted,
  type Measures,
  type Only,
  onlySql,
  shareSql,
  sumsSql,
  valuesOf,
} from './measures.ts'
import { beginOf, dayOf, endOf, type Period, weekOf, within } from './periods.ts'
import type { Fold, Source } from './picture.ts'
import type { RowBatch } from './ports.ts'

/** What happened day by day. A view of all time goes week by week: it may be years. */
export type ByTime = Measures & {
  readonly table: string
  /** The column that says when. */
  readonly time: string
  readonly only?: Only
}

/** The column that says which day or week a row of the table behind stands for. */
export function timeField({ days }: Period) {
  return days === null
    ? ({ name: 'week', title: 'Week from', kind: 'day' } as const)
    : ({ name: 'day', title: 'Day', kind: 'day' } as const)
}

/** Rows summed up by day or week. Days on which nothing happened have no row. */
export function byTime(asked: ByTime): Source {
  const { table, time } = asked
  return {
    reads: [{ table, columns: [time, ...columnsOfSums(asked), ...columnsOfOnly(asked)] }],
    fields: (period) => [timeField(period), ...fieldsOfMeasures(asked)],
    sql: (period, now) => sqlOf(asked, period, now),
    begin: (now) => foldOf(asked, now),
  }
}

function sqlOf(asked: ByTime, period: Period, now: number): string {
  const { name } = timeField(period)
  const start = name === 'week' ? `date_trunc('week', ${asked.time})` : asked.time
  const sums = [
    `select strftime(${start}, '%Y-%m-%d') as ${name}, ${sumsSql(asked)}`,
    `from ${asked.table}`,
    `where ${within(asked.time, period, now)}${onlySql(asked)}`,
    'group by 1',
  ].join('\n')
  if (!asked.share) return `${sums}\norder by 1`
  return `select *, ${shareSql(asked.share)} as ${asked.share.name}\nfrom (\n${sums}\n)\norder by 1`
}

function foldOf(asked: ByTime, now: number): Fold {
  const days = new Map<number, Float64Array>()
  const end = endOf(now)
  return {
    add: (_, { rows, columns }: RowBatch) => {
      const [times = [], ...cells] = columns
      for (let row = 0; row < rows; row++) {
        const at = times[row]
        if (typeof at !== 'number' || at >= end || !isWanted(asked, cells, row)) continue
        addRow({ sums: sumsAt(days, dayOf(at), asked.sums.length), at: 0 }, asked, { cells, row })
      }
    },
    table: (period) => {
      const begin = beginOf(period, now) ?? Number.NEGATIVE_INFINITY
      const found = period.days === null ? weeksOf(days, asked.sums.length) : days
      return [...found]
        .filter(([day]) => day >= begin)
        .sort(([a], [b]) => a - b)
        .map(([day, sums]) => [utcDate(day), ...valuesOf([...sums], asked)])
    },
  }
}

function sumsAt(days: Map<number, Float64Array>, day: number, length: number): Float64Array {
  const known = days.get(day)
  if (known) return known
  const sums = new Float64Array(length)
  days.set(day, sums)
  return sums
}

function weeksOf(days: ReadonlyMap<number, Float64Array>, length: number): Map<number, Float64Array> {
  const weeks = new Map<number, Float64Array>()
  for (const [day, sums] of days) {
    const week = sumsAt(weeks, weekOf(day), length)
    for (const [n, sum] of sums.entries()) week[n] = (week[n] ?? 0) + sum
  }
  return weeks
}
