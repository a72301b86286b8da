import type { Measures } from './measures.ts'

/** How many of the checks pass, and which part of all that is. */
export const passing: Measures = {
  sums: [
    { name: 'passed', title: 'Passed', kind: 'count', column: 'numerator' },
    { name: 'checked', title: 'Checked', kind: 'count', column: 'denominator' },
  ],
  share: { name: 'share', title: 'Share', kind: 'share', part: 'passed', whole: 'checked' },
}

/** The table and the column of time of all pictures of readiness. */
export const ofReadiness = { table: 'readiness_criteria_current', time: 'created_at' } as const

/** What to say where there are none. */
export const noReport = 'No repository was evaluated in this period.'
