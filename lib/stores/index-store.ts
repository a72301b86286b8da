import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import * as z from 'zod'
import { FatalError } from '../core/errors.ts'
import { PartFile } from '../sync/checkpoint.ts'
import type { IndexStore, PartObject, PartPath } from '../sync/ports.ts'
import { filesKey, isOfAttempt, padded, scanPrefix } from './lake-paths.ts'
import type { ObjectStore } from './objects.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** The engine's working objects in the lake bucket, compressed. */
export function createIndexStore(objects: ObjectStore): IndexStore {
  const write = async (key: string, bytes: Uint8Array, signal: AbortSignal) =>
    objects.put(key, await compress(bytes), { signal, contentType: 'application/zstd' })

  const read = async (key: string): Promise<Uint8Array | null> => {
    const bytes = await objects.get(key)
    return bytes && unpacked(bytes, `s3://${objects.bucket}/${key}`)
  }

  return {
    writePart: (path, bytes, signal) => write(partOf(path), bytes, signal),
    readPart: (path) => read(partOf(path)),
    listParts: async (stream) => (await objects.list(`index/${stream}/scan=`)).flatMap(partObject),
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
    removeScan: async (scan) => {
      const { stream, indexKey, replacedIndexKey } = scan
      const all = await objects.list(`index/${stream}/scan=`)
      const working = all.filter((key) => key.startsWith(scanPrefix(scan)) || isOfAttempt(key, scan))
      // Those of attempts that died before the scan was named in the checkpoint, too: they are of another scan's name.
      const indexes = (await objects.list(indexPrefix(stream))).filter((key) => isOfAttempt(key, scan))
      if (replacedIndexKey !== null) indexes.push(replacedIndexKey)
      await objects.remove([...working, ...indexes.filter((key) => key !== indexKey)])
    },
  }
}

function indexPrefix(stream: string): string {
  return `index/${stream}/index-`
}

function partOf(path: PartPath): string {
  return `${scanPrefix(path)}part-${padded(path.part)}-${path.fence}.bin.zst`
}

function partObject(key: string): PartObject[] {
  const match = /\/scan=(?<scanId>[^/]+)\/part-(?<part>\d+)-(?<fence>\d+)\.bin\.zst$/.exec(key)?.groups
  return match ? [{ key, scanId: `${match.scanId}`, part: Number(match.part), fence: Number(match.fence) }] : []
}

async function unpacked(bytes: Uint8Array, address: string): Promise<Uint8Array> {
  try {
    return await decompress(bytes)
  } catch (cause) {
    throw new FatalError(`${address} is damaged and can't be unpacked`, { code: 'damaged_state', cause })
  }
}
