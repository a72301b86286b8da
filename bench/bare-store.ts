import type { ObjectStore } from '../lib/stores/objects.ts'

/** A bucket in memory. */
export function bareStore(): ObjectStore {
  const objects = new Map<string, Uint8Array>()
  return {
    bucket: 'bench',
    put: async (key, bytes) => void objects.set(key, bytes),
    get: async (key) => objects.get(key) ?? null,
    getRange: async (key, from, to) => objects.get(key)?.subarray(from, to) ?? null,
    copy: async (from, to) => {
      const bytes = objects.get(from)
      if (bytes) objects.set(to, bytes)
      return bytes !== undefined
    },
    replace: async (key, change) => {
      const bytes = await change(objects.get(key) ?? null)
      if (bytes) objects.set(key, bytes)
    },
    list: async (prefix) => [...objects.keys()].filter((key) => key.startsWith(prefix)).sort(),
    remove: async (keys) => keys.forEach((key) => void objects.delete(key)),
  }
}
