import { mapConcurrently } from '../core/concurrency.ts'
import { FatalError } from '../core/errors.ts'
import { sha256 } from '../core/hash.ts'
import type { Merger } from '../publish/ports.ts'
import { type Cell, columnsOf, type Table } from '../streams/table.ts'
import type { PartFile } from '../sync/checkpoint.ts'
import { mergedKey, schemaVersion } from './lake-paths.ts'
import type { ObjectStore } from './objects.ts'
import { encodeParquet, publishedForm } from './parquet.ts'
import { appendRows, keyOrder, unpackedBytes } from './parquet-rows.ts'

/** What one file takes. The rows of a file are in memory at once, unpacked: 250,000 sessions take 330 MB. */
export type FileLimits = { rows: number; bytes: number; unpackedBytes: number }

const mebibyte = 2 ** 20
const defaultLimits: FileLimits = { rows: 250_000, bytes: 128 * mebibyte, unpackedBytes: 256 * mebibyte }

const readsAtOnce = 8

/** Merges parts in a bucket. */
export function createMerger(objects: ObjectStore, limits: FileLimits = defaultLimits): Merger {
  return {
    mergeParts: async (table, parts, signal) => {
      const { columns, taken } = await readParts(table, parts, { objects, limits, signal })
      const rows = columns[0]?.length ?? 0
      const order = keyOrder({ table, columns, rows })
      const bytes = encodeParquet({ table, columns, rows }, { form: publishedForm, order })
      const key = mergedKey(parts.slice(0, taken))
      await objects.put(key, bytes, { signal, contentType: 'application/vnd.apache.parquet' })
      const file = { kind: 'changes', table: table.name, key, rows, schemaVersion: schemaVersion(table) } as const
      return { file: { ...file, bytes: bytes.byteLength, sha256: sha256(bytes) }, taken }
    },
  }
}

type Reading = { objects: ObjectStore; limits: FileLimits; signal: AbortSignal }

/** The rows of the first parts, as many as the limits allow, and of the first one in any case. */
async function readParts(table: Table, parts: readonly PartFile[], reading: Reading) {
  const columns: Cell[][] = columnsOf(table).map(() => [])
  const size: FileLimits = { rows: 0, bytes: 0, unpackedBytes: 0 }
  let taken = 0
  while (taken < parts.length) {
    const some = parts.slice(taken, taken + readsAtOnce)
    for (const [at, bytes] of (await contentOf(some, reading)).entries()) {
      size.rows += some[at]?.rows ?? 0
      size.bytes += bytes.byteLength
      size.unpackedBytes += unpackedBytes(bytes)
      if (taken > 0 && exceeds(size, reading.limits)) return { columns, taken }
      await appendRows(columns, table, bytes)
      taken += 1
    }
  }
  return { columns, taken }
}

function exceeds(size: FileLimits, limits: FileLimits): boolean {
  return size.rows > limits.rows || size.bytes > limits.bytes || size.unpackedBytes > limits.unpackedBytes
}

function contentOf(parts: readonly PartFile[], { objects, signal }: Reading): Promise<Uint8Array[]> {
  return mapConcurrently(parts, readsAtOnce, async (part) => {
    const bytes = await objects.get(part.key)
    // Whoever took over merges them, too, and removes them then.
    signal.throwIfAborted()
    return intact(part, bytes)
  })
}

function intact({ key, table, sha256: wanted }: PartFile, bytes: Uint8Array | null): Uint8Array {
  if (bytes !== null && sha256(bytes) === wanted) return bytes
  const what = bytes === null ? 'is gone' : 'is not what was written: its SHA-256 differs'
  throw new FatalError(
    `The object ${key} of the lake, a part of a scan of ${table} that waits for publish, ${what}. ` +
      'Restore an earlier version of the object.',
    { code: 'damaged_state' },
  )
}
