import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createZstdCompress, createZstdDecompress, zstdCompress, zstdDecompress } from 'node:zlib'
import * as z from 'zod'
import { mapConcurrently } from '../core/concurrency.ts'
import { FatalError, SyncError } from '../core/errors.ts'
import { withoutShard } from '../streams/shards.ts'
import { PartFile, type ScanSummary } from '../sync/checkpoint.ts'
import type { IndexStore, PartObject, PartPath } from '../sync/ports.ts'
import { firstOf, inTurn } from './chunks.ts'
import { filesKey, isOfAttempt, padded, scanPrefix } from './lake-paths.ts'
import type { ObjectStreams } from './object-streams.ts'
import type { ObjectStore } from './objects.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

const contentType = 'application/zstd'
const listsAtOnce = 8

/** The engine's working objects in the lake bucket, compressed. What grows with a stream is never held whole. */
export function createIndexStore(objects: ObjectStore, streams: ObjectStreams): IndexStore {
  const write = async (key: string, bytes: Uint8Array, signal: AbortSignal) =>
    objects.put(key, await compress(bytes), { signal, contentType })

  const read = async (key: string): Promise<Uint8Array | null> => {
    const bytes = await objects.get(key)
    return bytes && unpacked(bytes, `s3://${objects.bucket}/${key}`)
  }

  return {
    writePart: (path, bytes, signal) => write(partOf(path), bytes, signal),
    readPart: (path) => read(partOf(path)),
    listParts: async (stream) => (await objects.list(`index/${stream}/scan=`)).flatMap(partObject),
    indexKey: ({ stream, scanId, fence }) => `${indexPrefix(stream)}${scanId}-${fence}.bin.zst`,
    writeIndex: (key, chunks, signal) => streams.write(key, packed(chunks), { signal, contentType }),
    openIndex: async (key) => {
      const chunks = await streams.read(key)
      return chunks && unpackedChunks(chunks, `s3://${objects.bucket}/${key}`)
    },
    readIndex: read,
    readShared: sharedReads(read),
    writeFiles: async (path, files, signal) => {
      const key = filesKey(path)
      await objects.put(key, Buffer.from(JSON.stringify(files)), { signal, contentType: 'application/json' })
      return key
    },
    readFiles: async (key) => {
      const bytes = await objects.get(key)
      return bytes && z.array(PartFile).parse(JSON.parse(Buffer.from(bytes).toString()))
    },
    objectsOf: async (scans) => {
      const streams = new Set(scans.map(({ stream }) => stream))
      const lists = streams.size > 1 ? new Set([...streams].map(withoutShard)) : streams
      const keys = await mapConcurrently([...lists], listsAtOnce, (name) => objects.list(`index/${name}/`))
      return [...new Set(workingObjects(keys.flat(), scans))]
    },
    remove: (keys) => objects.remove(keys),
  }
}

/** Up to this size an object is kept for the next reader: in a larger one, what a reader makes of it costs more than the read. */
const keptBytes = 16 * 1024 * 1024

/** Reads that share the last object. What lies under a key never changes. */
function sharedReads(read: (key: string) => Promise<Uint8Array | null>): typeof read {
  let last: { key: string; reading: ReturnType<typeof read> } | null = null
  return async (key) => {
    const shared = last?.key === key ? last : { key, reading: read(key) }
    last = shared
    const forget = () => {
      if (last === shared) last = null
    }
    shared.reading.catch(forget)
    const bytes = await shared.reading
    if (bytes === null || bytes.byteLength > keptBytes) forget()
    return bytes
  }
}

/** Of these keys those that scans need no more once they are published. */
function workingObjects(keys: readonly string[], scans: readonly ScanSummary[]): string[] {
  return scans.flatMap((scan) => {
    const { stream, indexKey, replacedIndexKey } = scan
    const own = keys.filter((key) => key.startsWith(`index/${stream}/`))
    // Those of attempts that died before the scan was named in the checkpoint, too: they are of another scan's name.
    const working = own.filter((key) => key.startsWith(scanPrefix(scan)) || isOfAttempt(key, scan))
    return [...working, ...(replacedIndexKey === null ? [] : [replacedIndexKey])].filter((key) => key !== indexKey)
  })
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

/** Up to this size an object is held whole: setting up a stream takes longer than to pack or to unpack it. */
const smallBytes = 512 * 1024

async function* packed(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { held, rest } = await firstOf(chunks, smallBytes)
  if (rest === null) yield compress(Buffer.concat(held))
  else yield* Readable.from(inTurn(held, rest)).compose(createZstdCompress())
}

async function* unpackedChunks(chunks: AsyncIterable<Uint8Array>, address: string): AsyncGenerator<Uint8Array> {
  const { held, rest } = await firstOf(chunks, smallBytes)
  if (rest === null) yield unpacked(Buffer.concat(held), address)
  else yield* unpackedStream(inTurn(held, rest), address)
}

async function* unpackedStream(chunks: AsyncIterable<Uint8Array>, address: string): AsyncGenerator<Uint8Array> {
  const unpacking = createZstdDecompress()
  const all = pipeline(chunks, unpacking)
  try {
    yield* unpacking
    await all
  } catch (error) {
    // Of the two ends of a pipe only its own promise tells which broke, and why.
    const cause = await all.then(
      () => error,
      (reason: unknown) => reason,
    )
    throw cause instanceof SyncError ? cause : damaged(address, cause)
  } finally {
    all.catch(() => {})
    unpacking.destroy()
  }
}

async function unpacked(bytes: Uint8Array, address: string): Promise<Uint8Array> {
  try {
    return await decompress(bytes)
  } catch (cause) {
    throw damaged(address, cause)
  }
}

function damaged(address: string, cause: unknown) {
  return new FatalError(`${address} is damaged and can't be unpacked`, { code: 'damaged_state', cause })
}
