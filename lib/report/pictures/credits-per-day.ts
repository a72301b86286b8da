import { byTime, timeField } from './by-time.ts'
import type { Picture } from './picture.ts'
import { noSession, ofSessions, sessionCredits } from './session-measures.ts'

/** What sessions cost, by the day on which they began. */
export const creditsPerDay: Picture = {
  id: 'credits-per-day',
  group: 'use',
  title: (period) => `Credits per ${timeField(period).name}`,
  unit: 'credits',
  note:
    'By the day on which the session began: the platform tells what a session cost, not when. ' +
    'Child sessions count as sessions of their own.',
  empty: noSession,
  periods: 'each',
  source: byTime({ ...ofSessions, sums: [sessionCredits] }),
  chart: (period) => ({ kind: 'columns', x: timeField(period).name, y: 'credits' }),
}
