import type * as z from 'zod'
import type { StoreVariables } from '../core/env.ts'
import { createCheckpoints } from '../stores/checkpoints.ts'
import { createIndexStore } from '../stores/index-store.ts'
import { createLake } from '../stores/lake.ts'
import { createObjectStreams } from '../stores/object-streams.ts'
import { createObjectStore } from '../stores/objects.ts'
import { createStorageClients } from '../stores/storage.ts'
import { clockOf, type Runtime, targetOf } from './runtime.ts'

/** Opens what reading and publishing share: the checkpoints, the lake, and the index of what is known. */
export function openStores(env: Omit<z.infer<typeof StoreVariables>, 'RECORDS_TABLE'>, runtime: Runtime) {
  const clients = runtime.clients ?? createStorageClients(targetOf(env, runtime))
  const objects = createObjectStore({ s3: clients.s3, bucket: env.LAKE_BUCKET })
  return {
    clients,
    clock: clockOf(runtime),
    objects,
    checkpoints: createCheckpoints({ dynamodb: clients.dynamodb, table: env.STATE_TABLE }),
    lake: createLake(objects),
    index: createIndexStore(objects, createObjectStreams({ s3: clients.s3, bucket: env.LAKE_BUCKET })),
    close: clients.destroy,
  }
}
