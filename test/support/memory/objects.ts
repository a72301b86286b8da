import type { ObjectStore } from '../../../lib/stores/objects.ts'
import { stopIfAborted } from './records.ts'

/** A bucket in memory. */
export function createMemoryObjects(bucket = 'memory'): ObjectStore {
  const objects = new Map<string, Uint8Array>()
  return {
    bucket,
    put: async (key, bytes, { signal } = {}) => {
      if (signal) stopIfAborted(signal)
      objects.set(key, Uint8Array.from(bytes))
    },
    get: async (key) => objects.get(key) ?? null,
    getRange: async (key, from, to) => objects.get(key)?.slice(from, to) ?? null,
    copy: async (from, to, { signal }) => {
      stopIfAborted(signal)
      const bytes = objects.get(from)
      if (bytes) objects.set(to, bytes)
      return bytes !== undefined
    },
    replace: async (key, change, { signal } = {}) => {
      if (signal) stopIfAborted(signal)
      for (;;) {
        const before = objects.get(key)
        const bytes = await change(before ?? null)
        // Another came in between: it is made again, from what is there by then.
        if (objects.get(key) !== before) continue
        if (bytes !== null) objects.set(key, Uint8Array.from(bytes))
        return
      }
    },
    list: async (prefix) => [...objects.keys()].filter((key) => key.startsWith(prefix)).sort(),
    remove: async (keys) => {
      for (const key of keys) objects.delete(key)
    },
  }
}
