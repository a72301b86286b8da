import { AwsVariables, readVariables, ScheduleVariables, TablesVariables, type Variables } from '../core/env.ts'
import { createFileRows } from '../stores/file-rows.ts'
import { createLakeRows } from '../stores/lake-rows.ts'
import { createPages } from '../stores/pages.ts'
import { rowFiles } from '../stores/row-files.ts'
import { composeInspect } from './inspect.ts'
import { pointersOf } from './pointers.ts'
import { cloudOf, type Runtime } from './runtime.ts'
import { schedulesFrom } from './schedules.ts'

/** What the nightly page is made from. */
export type ReportRoot = ReturnType<typeof composeReport>

const Environment = AwsVariables.extend({ ...TablesVariables.shape, ...ScheduleVariables.shape })

/**
 * Builds what making the nightly page needs. It asks no platform and reads no secret.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeReport(variables: Variables, runtime: Runtime) {
  const stores = composeInspect(variables, runtime)
  const { objects, lake } = stores
  const env = readVariables(Environment, variables)
  const { LAKE_ADDRESS: address = `s3://${objects.bucket}`, ICEBERG_DATABASE: database } = env
  const pointers = pointersOf({ database, address, objects, target: cloudOf(env) })
  return {
    ...stores,
    pages: createPages(objects),
    rows: createFileRows(objects),
    lakeRows: createLakeRows({ files: objects, rows: rowFiles, pointers, lake }),
    schedules: schedulesFrom(env.RUN_SCHEDULES),
  }
}
