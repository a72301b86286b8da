import { readVariables, ScheduleVariables, type Variables } from '../core/env.ts'
import { createFileRows } from '../stores/file-rows.ts'
import { composeInspect } from './inspect.ts'
import type { Runtime } from './runtime.ts'
import { schedulesFrom } from './schedules.ts'

/** What the nightly page is made from. */
export type ReportRoot = ReturnType<typeof composeReport>

/**
 * Builds what making the nightly page needs. It asks no platform and reads no secret.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeReport(variables: Variables, runtime: Runtime) {
  const { RUN_SCHEDULES } = readVariables(ScheduleVariables, variables)
  const stores = composeInspect(variables, runtime)
  return { ...stores, rows: createFileRows(stores.objects), schedules: schedulesFrom(RUN_SCHEDULES) }
}
