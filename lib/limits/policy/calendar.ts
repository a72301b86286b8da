import { isDay } from '../until.ts'

/** The day that a time (Unix ms) falls on in a time zone, as `2026-05-31`. */
export function dayIn(timeZone: string, at: number): string {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, calendar: 'gregory', numberingSystem: 'latn' },
    ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
  })
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]))
  return `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`
}

/** The day so many days later. Days of the calendar are counted, whatever a clock does on them. */
export function daysAfter(day: string, days: number): string {
  const at = new Date(`${day}T00:00:00Z`)
  at.setUTCDate(at.getUTCDate() + days)
  return at.toISOString().slice(0, 10)
}

/** Whether a limit made by hand still stands: a day counts to its end in the zone, a time is a time. */
export function stillStands(until: string, { timeZone, now }: { timeZone: string; now: number }): boolean {
  return isDay(until) ? dayIn(timeZone, now) <= until : now < Date.parse(until)
}

/** The first day on which what stands until then may have ended. */
export function dayOfEnd(until: string, timeZone: string): string {
  return isDay(until) ? daysAfter(until, 1) : dayIn(timeZone, Date.parse(until))
}
