import { readVariables, ScheduleVariables, type Variables } from '../core/env.ts'
import { createFileRows } from '../stores/file-rows.ts'
import { createLakeRows } from '../stores/lake-rows.ts'
import { createPages } from '../stores/pages.ts'
import { readRows } from '../stores/read-rows.ts'
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
  const stores = composeInspect(variables, runtime)
  const { objects, lake, currentFiles } = stores
  const env = readVariables(ScheduleVariables, variables)
  return {
    ...stores,
    pages: createPages(objects),
    rows: createFileRows(objects),
    lakeRows: createLakeRows({ files: objects, rows: { read: readRows }, lake, currentFiles }),
    schedules: schedulesFrom(env.RUN_SCHEDULES),
  }
}
