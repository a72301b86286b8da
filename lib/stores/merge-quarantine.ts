import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { sha256 } from '../core/hash.ts'
import type { Merger } from '../publish/ports.ts'
import type { PartFile } from '../sync/checkpoint.ts'
import { intactPart } from './intact-part.ts'
import { mergedKey } from './lake-paths.ts'
import type { ObjectStore } from './objects.ts'

const unzip = promisify(gunzip)
const zip = promisify(gzip)

/** The lines of a file are in memory at once, unpacked. Records that no table can take are as large as they come. */
const defaultBytes = 64 * 2 ** 20

/** Merges the parts of quarantines in a bucket, into files of at most so many bytes of lines. */
export function createQuarantineMerger(
  objects: ObjectStore,
  unpackedBytes = defaultBytes,
): Pick<Merger, 'mergeQuarantine'> {
  return {
    mergeQuarantine: async (parts, { signal }) => {
      const lines = await readLines(parts, { objects, unpackedBytes, signal })
      const taken = parts.slice(0, lines.length)
      const bytes = await zip(Buffer.concat(lines))
      const key = mergedKey(taken)
      await objects.put(key, bytes, { signal, contentType: 'application/gzip' })
      const rows = taken.reduce((sum, part) => sum + part.rows, 0)
      const [first] = taken as [PartFile]
      const file = { ...first, key, rows, bytes: bytes.byteLength, sha256: sha256(bytes) }
      return { files: [file], taken: taken.length }
    },
  }
}

type Reading = { objects: ObjectStore; unpackedBytes: number; signal: AbortSignal }

/** The lines of the first parts, as many as fit and have one form, and of the first one in any case. */
async function readLines(parts: readonly PartFile[], reading: Reading): Promise<Buffer[]> {
  const lines: Buffer[] = []
  let size = 0
  for (const part of parts) {
    const bytes = await reading.objects.get(part.key)
    // Whoever took over merges them, too, and removes them then.
    reading.signal.throwIfAborted()
    const own = await unzip(intactPart(part, bytes))
    size += own.byteLength
    const isOfFirst = part.schemaVersion === parts[0]?.schemaVersion
    if (lines.length > 0 && (size > reading.unpackedBytes || !isOfFirst)) return lines
    lines.push(own)
  }
  return lines
}
