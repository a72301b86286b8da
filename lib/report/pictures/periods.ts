import { utcDate } from '../../core/clock.ts'
/** A span of time that a reader may choose: the whole days before today, as many as it says, and today so far. */
export type Period = { readonly id: string; readonly days: number | null; readonly label: string }

/** The periods, each inside of the next one. */
export const periods: readonly Period[] = [
  { id: '7', days: 7, label: '7 days' },
  { id: '30', days: 30, label: '30 days' },
  { id: '90', days: 90, label: '90 days' },
  { id: 'all', days: null, label: 'all' },
]

/** The one that is shown first. */
export const firstPeriod = '30'

export const dayMs = 86_400_000

/** The UTC midnight before a time. */
export function dayOf(ms: number): number {
  return ms - (((ms % dayMs) + dayMs) % dayMs)
}

/** The UTC midnight before the Monday that begins the week of a time. 1970 began with a Thursday. */
export function weekOf(ms: number): number {
  const day = dayOf(ms)
  return day - ((((day / dayMs + 3) % 7) + 7) % 7) * dayMs
}

/** Where a period begins; null for the one without a beginning. */
export function beginOf({ days }: Period, now: number): number | null {
  return days === null ? null : dayOf(now) - days * dayMs
}

/** Where all periods end: with the day of `now`. Times after it are those of a wrong clock. */
export function endOf(now: number): number {
  return dayOf(now) + dayMs
}

/**
 * Says into which period a time falls first: since each is inside of the next one, a row is counted once, and a period is
 * the sum of those inside of it. -1 for a time in none.
 */
export function bandsOf(now: number): (ms: number) => number {
  const begins = periods.map((period) => beginOf(period, now) ?? Number.NEGATIVE_INFINITY)
  const end = endOf(now)
  return (ms) => (ms < end ? begins.findIndex((begin) => ms >= begin) : -1)
}

/** The condition that a time of a row lies in a period. */
export function within(time: string, period: Period, now: number): string {
  const begin = beginOf(period, now)
  const from = begin === null ? '' : `${time} >= timestamp '${utcDate(begin)}' and `
  return `${from}${time} < timestamp '${utcDate(endOf(now))}'`
}
