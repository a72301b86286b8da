import { byTime, timeField } from './by-time.ts'
import type { Picture } from './picture.ts'
import { noSession, ofSessions, sessionCount } from './session-measures.ts'

/** How many sessions began. */
export const sessionsPerDay: Picture = {
  id: 'sessions-per-day',
  group: 'use',
  title: (period) => `Sessions per ${timeField(period).name}`,
  unit: 'sessions',
  note: 'A session counts for the day on which it began.',
  empty: noSession,
  periods: 'each',
  source: byTime({ ...ofSessions, sums: [sessionCount] }),
  chart: (period) => ({ kind: 'columns', x: timeField(period).name, y: 'sessions' }),
}
