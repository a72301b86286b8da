import { byTime, timeField } from './by-time.ts'
import type { Picture } from './picture.ts'
import { noReport, ofReadiness, passing } from './readiness-measures.ts'

/** Whether repositories become readier. */
export const readinessOverTime: Picture = {
  id: 'readiness-over-time',
  group: 'readiness',
  title: (period) => `Readiness per ${timeField(period).name}: checks that pass`,
  unit: 'passed of checked',
  note: 'Of the reports of each day. Which repositories were evaluated differs from day to day.',
  empty: noReport,
  periods: 'each',
  source: byTime({ ...ofReadiness, ...passing }),
  chart: (period) => ({ kind: 'line', x: timeField(period).name, y: 'share' }),
}
