import { MessagesVariables, readVariables, StoreVariables, type Variables } from '../core/env.ts'
import { latestManifestKey } from '../stores/lake-paths.ts'
import { createPublishedLake } from '../stores/published-lake.ts'
import { createRuns } from '../stores/runs.ts'
import type { Runtime } from './runtime.ts'
import { openStores } from './stores.ts'

/** The stores, for those who look at what is stored or set it back. */
export type InspectRoot = ReturnType<typeof composeInspect>

/**
 * Builds the stores for those who look at what is stored, or set it back. They ask no platform and read no secret.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeInspect(variables: Variables, runtime: Runtime) {
  const needed = StoreVariables.omit({ RECORDS_TABLE: true }).extend(MessagesVariables.shape)
  const env = readVariables(needed, variables)
  const stores = openStores(env, runtime)
  return {
    ...stores,
    lake: createPublishedLake(stores.objects),
    hasPublished: async () => (await stores.objects.list(latestManifestKey)).length > 0,
    messages: env.MESSAGES_ENABLED,
    runs: createRuns({ dynamodb: stores.clients.dynamodb, table: env.STATE_TABLE }),
  }
}
