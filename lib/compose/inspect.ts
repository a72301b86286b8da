import type * as z from 'zod'
import { MessagesVariables, readVariables, StoreVariables, TablesVariables, type Variables } from '../core/env.ts'
import { currentFiles } from '../publish/iceberg/current-files.ts'
import { latestManifestKey } from '../stores/lake-paths.ts'
import { createPublications } from '../stores/publications.ts'
import { createPublishedLake } from '../stores/published-lake.ts'
import { createRuns } from '../stores/runs.ts'
import { pointersOf } from './pointers.ts'
import type { Runtime } from './runtime.ts'
import { openStores } from './stores.ts'

const Environment = StoreVariables.omit({ RECORDS_TABLE: true }).extend({
  ...MessagesVariables.shape,
  ...TablesVariables.shape,
})

/** The stores, for those who look at what is stored or set it back. */
export type InspectRoot = ReturnType<typeof composeInspect>

/**
 * Builds the stores for those who look at what is stored, or set it back. They ask no platform and read no secret.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeInspect(variables: Variables, runtime: Runtime) {
  const env = readVariables(Environment, variables)
  const stores = openStores(env, runtime)
  const state = { dynamodb: stores.clients.dynamodb, table: env.STATE_TABLE }
  return {
    ...stores,
    lake: createPublishedLake(stores.objects),
    ...currentOf(env, stores),
    hasPublished: async () => (await stores.objects.list(latestManifestKey)).length > 0,
    messages: env.MESSAGES_ENABLED,
    runs: createRuns(state),
    publications: createPublications(state),
  }
}

/** Where a table's current state lies, for those who need no history. */
function currentOf(env: z.infer<typeof Environment>, { objects }: Pick<ReturnType<typeof openStores>, 'objects'>) {
  const place = pointersOf(env, objects)
  return {
    currentFiles: (of: Parameters<typeof currentFiles>[0]) => currentFiles(of, { files: objects, ...place }),
  }
}
