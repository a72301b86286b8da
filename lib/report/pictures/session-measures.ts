import type { Measure } from './measures.ts'

/** How many sessions. */
export const sessionCount: Measure = { name: 'sessions', title: 'Sessions', kind: 'count', column: null }

/** What they cost, without their child sessions: those are sessions of their own. */
export const sessionCredits: Measure = {
  name: 'credits',
  title: 'Credits',
  kind: 'amount',
  column: 'token_usage_platform_credits',
}

/** The table and the column of time of all pictures of sessions. */
export const ofSessions = { table: 'sessions_current', time: 'created_at' } as const

/** What to say where there are none. */
export const noSession = 'No session began in this period.'
