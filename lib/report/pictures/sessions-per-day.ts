import { byTime, timeField } from './by-time.ts'
import type { Picture } from './picture.ts'

/** How many sessions began. */
export const sessionsPerDay: Picture = {
  id: 'sessions-per-day',
  group: 'use',
  title: (period) => `Sessions per ${timeField(period).name}`,
  unit: 'sessions',
  note: 'A session counts for the day on which it began.',
  empty: 'No session began in this period.',
  periods: 'each',
  source: byTime({
    table: 'sessions_current',
    time: 'created_at',
    sums: [{ name: 'sessions', title: 'Sessions', kind: 'count', column: null }],
  }),
  chart: (period) => ({ kind: 'columns', x: timeField(period).name, y: 'sessions' }),
}
