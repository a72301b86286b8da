import { createIndexStore } from '../../../lib/stores/index-store.ts'
import type { IndexStore } from '../../../lib/sync/ports.ts'
import { createMemoryObjects } from './objects.ts'

/** The engine's working objects in memory: the real store, compression included, over a bucket in memory. */
export function createMemoryIndexStore(): IndexStore {
  return createIndexStore(createMemoryObjects())
}
