import { createIndexStore } from '../../../lib/stores/index-store.ts'
import type { IndexStore } from '../../../lib/sync/ports.ts'
import { streamsOver } from './object-streams.ts'
import { createMemoryObjects } from './objects.ts'

/** The engine's working objects in memory: the real store, compression included, over a bucket in memory. */
export function createMemoryIndexStore(): IndexStore {
  const objects = createMemoryObjects()
  return createIndexStore(objects, streamsOver(objects))
}
