import * as z from 'zod'

/** When runs are due, as an installation has set it. */
export const KnownSchedule = z.object({
  name: z.string(),
  expression: z.string().describe('As EventBridge Scheduler writes it.'),
  timeZone: z.string(),
  streams: z.array(z.string()),
  alarmAfterHours: z.number().describe('Without a complete run for so long, something is wrong.'),
  report: z.boolean().describe('Whether a run of it ends with the nightly page.'),
})
export type KnownSchedule = z.infer<typeof KnownSchedule>

/** How old a stream may be, by the strictest of the schedules that read it, hours; null where none does. */
export function hoursAllowed(stream: string, schedules: readonly KnownSchedule[]): number | null {
  const hours = schedules.filter(({ streams }) => streams.includes(stream)).map((each) => each.alarmAfterHours)
  return hours.length === 0 ? null : Math.min(...hours)
}
