import { randomUUID } from 'node:crypto'
import type { TablePointers } from '../publish/iceberg/ports.ts'
import { createGlue } from '../stores/catalog.ts'
import type { AwsTarget } from '../stores/clients.ts'
import { createGluePointers } from '../stores/glue-tables.ts'
import type { ObjectStore } from '../stores/objects.ts'
import { createFolderPointers } from '../stores/table-pointers.ts'

type Place = { database: string | undefined; address: string; objects: ObjectStore; target: AwsTarget }

/** What says which metadata of the Iceberg tables counts: on AWS Glue, elsewhere a file of the bucket. */
export function pointersOf({ database, target, ...place }: Place): TablePointers {
  return database
    ? createGluePointers({ ...place, glue: createGlue(target), database, newAttempt: randomUUID })
    : createFolderPointers(place)
}
