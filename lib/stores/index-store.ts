import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import * as z from 'zod'
import { FatalError } from '../core/errors.ts'
import { PartFile } from '../sync/manifest.ts'
import type { IndexStore, PartPath } from '../sync/ports.ts'
import { fenceOf, filesKey, padded, scanPrefix } from './lake-paths.ts'
import type { ObjectStore } from './objects.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** The engine's working objects in the lake bucket, compressed. */
export const createIndexStore = (objects: ObjectStore): IndexStore => {
  const write = async (key: string, bytes: Uint8Array, signal: AbortSignal) =>
    objects.put(key, await compress(bytes), { signal, contentType: 'application/zstd' })

  const read = async (key: string): Promise<Uint8Array | null> => {
    const bytes = await objects.get(key)
    return bytes && unpacked(bytes, `s3://${objects.bucket}/${key}`)
  }

  return {
    writePart: (path, bytes, signal) => write(partOf(path), bytes, signal),
    readPart: (path) => read(partOf(path)),
    indexKey: ({ stream, scanId, fence }) => `${indexPrefix(stream)}${scanId}-${fence}.bin.zst`,
    writeIndex: write,
    readIndex: read,
    writeFiles: async (path, files, signal) => {
      const key = filesKey(path)
      await objects.put(key, Buffer.from(JSON.stringify(files)), { signal, contentType: 'application/json' })
      return key
    },
    readFiles: async (key) => {
      const bytes = await objects.get(key)
      return bytes && z.array(PartFile).parse(JSON.parse(Buffer.from(bytes).toString()))
    },
    removeScan: async (scan, keepIndex) => {
      const indexes = await objects.list(indexPrefix(scan.stream))
      const working = await objects.list(scanPrefix(scan))
      // An index with a higher fence belongs to a later scan, which may be about to point its checkpoint at it.
      const old = indexes.filter((key) => key !== keepIndex && !(fenceOf(key) > fenceOf(scan.filesKey)))
      await objects.remove([...working, ...old])
    },
  }
}

const indexPrefix = (stream: string): string => `index/${stream}/index-`

const partOf = (path: PartPath): string => `${scanPrefix(path)}part-${padded(path.part)}-${path.fence}.bin.zst`

const unpacked = async (bytes: Uint8Array, address: string): Promise<Uint8Array> => {
  try {
    return await decompress(bytes)
  } catch (cause) {
    throw new FatalError(`${address} is damaged and can't be unpacked`, { code: 'damaged_state', cause })
  }
}
