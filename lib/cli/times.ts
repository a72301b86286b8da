import { utcDate } from '../core/clock.ts'
import { FatalError } from '../core/errors.ts'

/** How far back the commands and pages on limits look where nobody says. */
export const monthMs = 30 * 86_400_000

// Date.parse takes the 31st of February for the 3rd of March.
function isDay(day: string | undefined): boolean {
  const midnight = Date.parse(day ?? '')
  return Number.isFinite(midnight) && utcDate(midnight) === day
}

/** Reads a time as people write it. @throws FatalError `usage` */
export function timeOf(text: string): number {
  const [day] = /^\d{4}-\d\d-\d\d(?=$|T[\d:.]+(Z|[+-]\d\d:\d\d)$)/.exec(text) ?? []
  const time = isDay(day) ? Date.parse(text) : Number.NaN
  if (Number.isFinite(time)) return time
  throw new FatalError(`"${text}" is no time. Write 2026-05-06 or 2026-05-06T10:00:00Z.`, { code: 'usage' })
}

/** Reads a day as people write it: its midnight in UTC. @throws FatalError `usage` */
export function dayOf(text: string): number {
  if (/^\d{4}-\d\d-\d\d$/.test(text) && isDay(text)) return Date.parse(text)
  throw new FatalError(`"${text}" is no day. Write 2026-05-06.`, { code: 'usage' })
}
