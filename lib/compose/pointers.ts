import { randomUUID } from 'node:crypto'
import type { TablePointers } from '../publish/iceberg/ports.ts'
import { createGlue } from '../stores/catalog.ts'
import { createGluePointers } from '../stores/glue-tables.ts'
import type { ObjectStore } from '../stores/objects.ts'
import { createFolderPointers } from '../stores/table-pointers.ts'
import { cloudOf } from './runtime.ts'

type TablesVariables = Parameters<typeof cloudOf>[0] & {
  LAKE_BUCKET: string
  LAKE_ADDRESS?: string | undefined
  ICEBERG_DATABASE?: string | undefined
}

/** Where engines find the lake, and which metadata is a table's: on AWS Glue says so, elsewhere a file of the bucket. */
export function pointersOf(env: TablesVariables, objects: ObjectStore): { address: string; pointers: TablePointers } {
  const { ICEBERG_DATABASE: database, LAKE_BUCKET: bucket, LAKE_ADDRESS: address = `s3://${bucket}` } = env
  const place = { objects, address }
  const pointers = database
    ? createGluePointers({ ...place, glue: createGlue(cloudOf(env)), database, newAttempt: randomUUID })
    : createFolderPointers(place)
  return { address, pointers }
}
