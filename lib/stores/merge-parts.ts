import { mapConcurrently } from '../core/concurrency.ts'
import { FatalError } from '../core/errors.ts'
import { sha256 } from '../core/hash.ts'
import { createRowGatherer } from '../publish/iceberg/gather-rows.ts'
import { mergedRows } from '../publish/iceberg/merge-rows.ts'
import type { Merger } from '../publish/ports.ts'
import { identifiedColumnsOf } from '../streams/field-ids.ts'
import { orderColumns } from '../streams/row-order.ts'
import { type Cell, columnsOf, type Table } from '../streams/table.ts'
import type { PartFile } from '../sync/checkpoint.ts'
import { inOrder, keyOrder } from './key-order.ts'
import { mergedKey, schemaVersion } from './lake-paths.ts'
import type { ObjectStore } from './objects.ts'
import { groupRows } from './parquet.ts'
import { appendRows, unpackedBytes } from './parquet-rows.ts'
import { isPart, type OpenPart, openPart } from './part-rows.ts'
import { rowFiles } from './row-files.ts'

/** What one file takes. Of its rows a group is in memory, and a block of each part; all of them at worst, where they are few and large. */
export type FileLimits = { rows: number; bytes: number; unpackedBytes: number }

const mebibyte = 2 ** 20
const defaultLimits: FileLimits = { rows: 250_000, bytes: 128 * mebibyte, unpackedBytes: 256 * mebibyte }

const readsAtOnce = 8

/** Merges the parts of tables in a bucket. */
export function createMerger(objects: ObjectStore, limits: FileLimits = defaultLimits): Pick<Merger, 'mergeParts'> {
  return {
    mergeParts: async (table, parts, signal) => {
      const opened = await openParts(table, parts, { objects, limits, signal })
      const columns = identifiedColumnsOf(table)
      const writer = rowFiles.open(table)
      let rows = 0
      const gatherer = createRowGatherer(columns.length, {
        groupRows,
        onGroup: (group) => {
          writer.add(group)
          rows += group[0]?.length ?? 0
        },
      })
      const sources = opened.map((part) => part.groups(columns))
      for await (const places of mergedRows(sources, columns, orderColumns(table))) {
        for (const { group, row } of places) gatherer.take(group, row)
        signal.throwIfAborted()
      }
      gatherer.flush()
      const bytes = writer.finish()
      const taken = opened.length
      const key = mergedKey(parts.slice(0, taken))
      await objects.put(key, bytes, { signal, contentType: 'application/vnd.apache.parquet' })
      const file = { kind: 'changes', table: table.name, key, rows, schemaVersion: schemaVersion(table) } as const
      return { file: { ...file, bytes: bytes.byteLength, sha256: sha256(bytes) }, taken }
    },
  }
}

/** A part whose rows go by key. */
type SortedPart = Pick<OpenPart, 'unpackedBytes' | 'groups'>

type Reading = { objects: ObjectStore; limits: FileLimits; signal: AbortSignal }

/** The first parts, as many as the limits allow, and the first one in any case. */
async function openParts(table: Table, parts: readonly PartFile[], reading: Reading): Promise<SortedPart[]> {
  const opened: SortedPart[] = []
  const size: FileLimits = { rows: 0, bytes: 0, unpackedBytes: 0 }
  while (opened.length < parts.length) {
    const some = parts.slice(opened.length, opened.length + readsAtOnce)
    for (const [at, bytes] of (await contentOf(some, reading)).entries()) {
      const part = isPart(bytes) ? openPart(bytes) : await openParquet(table, bytes)
      size.rows += some[at]?.rows ?? 0
      size.bytes += bytes.byteLength
      size.unpackedBytes += part.unpackedBytes
      if (opened.length > 0 && exceeds(size, reading.limits)) return opened
      opened.push(part)
    }
  }
  return opened
}

/** A part that an earlier version wrote: Parquet, in the order in which the records came. */
async function openParquet(table: Table, bytes: Uint8Array): Promise<SortedPart> {
  const columns: Cell[][] = columnsOf(table).map(() => [])
  await appendRows(columns, table, bytes)
  const rows = columns[0]?.length ?? 0
  const order = keyOrder({ table, columns, rows })
  const sorted = columns.map((cells) => inOrder(cells, order))
  return { unpackedBytes: unpackedBytes(bytes), groups: () => [sorted] }
}

function exceeds(size: FileLimits, limits: FileLimits): boolean {
  return size.rows > limits.rows || size.bytes > limits.bytes || size.unpackedBytes > limits.unpackedBytes
}

function contentOf(parts: readonly PartFile[], { objects, signal }: Reading): Promise<Uint8Array[]> {
  return mapConcurrently(parts, readsAtOnce, async (part) => {
    const bytes = await objects.get(part.key)
    // Whoever took over merges them, too, and removes them then.
    signal.throwIfAborted()
    return intactPart(part, bytes)
  })
}

/** The bytes of a part. @throws FatalError `damaged_state` when it is gone, or isn't what was written. */
export function intactPart({ key, table, sha256: wanted }: PartFile, bytes: Uint8Array | null): Uint8Array {
  if (bytes !== null && sha256(bytes) === wanted) return bytes
  const what = bytes === null ? 'is gone' : 'is not what was written: its SHA-256 differs'
  throw new FatalError(
    `The object ${key} of the lake, a part of a scan of ${table} that waits for publish, ${what}. ` +
      'Restore an earlier version of the object.',
    { code: 'damaged_state' },
  )
}
