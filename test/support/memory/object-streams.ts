import type { ObjectStreams } from '../../../lib/stores/object-streams.ts'
import type { ObjectStore } from '../../../lib/stores/objects.ts'

/** Streams of objects that are held whole, cut where no reader expects it. */
export function streamsOver(objects: ObjectStore): ObjectStreams {
  return {
    read: async (key) => {
      const bytes = await objects.get(key)
      return bytes && piecesOf(bytes)
    },
    write: async (key, chunks, options) => {
      const all: Uint8Array[] = []
      for await (const chunk of chunks) all.push(chunk)
      await objects.put(key, Buffer.concat(all), options)
    },
  }
}

async function* piecesOf(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += 1_001) yield bytes.subarray(at, at + 1_001)
}
