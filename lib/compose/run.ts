import { noDeadline } from '../core/deadline.ts'
import { readVariables, StoreVariables, type Variables } from '../core/env.ts'
import { createPatience } from '../core/patience.ts'
import type { SyncDeps } from '../sync/context.ts'
import { composePublish } from './publish.ts'
import { composeSync, engineOf, openSyncStores, type SyncRuntime } from './sync.ts'

/** The root of a whole run. */
export type RunRoot = ReturnType<typeof composeRun>

/**
 * Builds what one process needs that reads streams and then publishes, over the same clients.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeRun(variables: Variables, runtime: SyncRuntime) {
  const sync = composeSync(variables, runtime)
  const { finishDeps, lake } = composePublish(variables, { ...runtime, clients: sync.clients })
  return { ...sync, lake, finishDeps }
}

/**
 * Builds what accepting deletes needs. It reads no list, so that neither the platform nor a key for fingerprints need
 * be configured.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeApproval(variables: Variables, runtime: SyncRuntime) {
  const stores = openSyncStores(readVariables(StoreVariables, variables), runtime)
  const { finishDeps } = composePublish(variables, { ...runtime, clients: stores.clients })
  const approvalDeps: SyncDeps = {
    ...engineOf(stores, runtime),
    source: { fetchPage: async () => notRead() },
    redact: notRead,
    digestKey: notRead,
    observers: {},
    deadline: noDeadline,
    patience: createPatience(0),
  }
  return { approvalDeps, finishDeps, close: stores.close }
}

function notRead(): never {
  throw new Error('an approval reads no record; whoever asks for one has a bug')
}
