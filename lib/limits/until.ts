/** A day of the calendar, `2028-02-29`; of those that do not exist there is none. */
const day = /^[12]\d{3}-\d{2}-\d{2}$/
const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

/** Whether a text is a day of the calendar. */
export function isDay(text: string): boolean {
  if (!day.test(text)) return false
  const at = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().slice(0, 10) === text
}

/**
 * The reason why a value can't say until when a limit stands, or null: it is missing, a day (its last one, in the policy's
 * time zone), or a time with its offset.
 */
export function faultOfUntil(value: unknown): string | null {
  if (value === undefined) return null
  if (typeof value === 'string' && isDay(value)) return null
  if (typeof value === 'string' && time.test(value) && isDay(value.slice(0, 10)) && !Number.isNaN(Date.parse(value))) {
    return null
  }
  return 'until is no day like 2026-05-31 and no time like 2026-05-31T18:00:00Z'
}
