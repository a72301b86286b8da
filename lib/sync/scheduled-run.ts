import * as z from 'zod'
import type { Run } from './context.ts'

/** What started a run: which schedule (or `manual`), and the time it was due. */
export const ScheduledRun = z.object({
  schedule: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,39}$/, 'is not a name of lower-case letters, digits and hyphens')
    .describe('Two schedules may be due at the same time, so its name is a part of the run id.'),
  scheduledAt: z.iso
    .datetime({ offset: true })
    .describe('ISO 8601; the time that the schedule was due, not the start.'),
})
export type ScheduledRun = z.infer<typeof ScheduledRun>

/** The run of a scheduled time, the same however often a schedule fires for it: `20261128T020000Z-nightly`. */
export function runOf({ schedule, scheduledAt }: ScheduledRun): Run {
  const dueAt = Date.parse(scheduledAt)
  const compact = new Date(dueAt).toISOString().replace(/\.\d+/, '').replaceAll(/[-:]/g, '')
  return { runId: `${compact}-${schedule}`, scheduledAt: dueAt }
}

/** The name of the schedule that a run id tells; null for a run that was started by hand. */
export function scheduleOf({ runId }: Pick<Run, 'runId'>): string | null {
  return /^\d{8}T\d{6}Z-(.+)$/.exec(runId)?.[1] ?? null
}
