import { createQueue, mapConcurrently } from '../core/concurrency.ts'
import { sha256 } from '../core/hash.ts'
import { mergedRows } from '../publish/iceberg/merge-rows.ts'
import { defaultFileSize, type RowFileWriter } from '../publish/iceberg/ports.ts'
import { createRollingFile, type RollingFile } from '../publish/iceberg/rolling-file.ts'
import type { Merger } from '../publish/ports.ts'
import { identifiedColumnsOf } from '../streams/field-ids.ts'
import { compareCells, orderColumns } from '../streams/row-order.ts'
import type { Cell, Table } from '../streams/table.ts'
import type { PartFile } from '../sync/checkpoint.ts'
import { mergedKey, schemaVersion } from './lake-paths.ts'
import type { ObjectStore } from './objects.ts'
import { groupRows } from './parquet.ts'
import { rowFiles } from './row-files.ts'
import { openSortedPart, type SortedPart } from './sorted-part.ts'

/**
 * How large files become, packed, where the group of rows that fills one goes into it whole, and how many parts are merged
 * at a time. Of each part a block of rows is in memory, and all together read ahead by so many bytes.
 */
export type MergeLimits = { rows: number; bytes: number; partsAtOnce: number; readAheadBytes: number }

const defaultLimits: MergeLimits = {
  rows: 250_000,
  bytes: defaultFileSize.bytes,
  partsAtOnce: 1_000,
  readAheadBytes: 24 * 2 ** 20,
}
/** Less is not worth a request. */
const leastWindow = 32 * 1024

const readsAtOnce = 16

/** Merges the parts of tables in a bucket. */
export function createMerger(objects: ObjectStore, limits: MergeLimits = defaultLimits): Pick<Merger, 'mergeParts'> {
  return {
    mergeParts: async (table, parts, { signal, stillMine }) => {
      const some = parts.slice(0, limits.partsAtOnce)
      const opened = await openParts(table, some, { objects, limits, signal })
      const columns = identifiedColumnsOf(table)
      const output = createMergedFiles(table, some, { objects, signal })
      let last: Cell | undefined
      const sources = opened.map((part) => part.groups(columns))
      for await (const places of mergedRows(sources, columns, orderColumns(table))) {
        for (const { group, row, key } of places) {
          const first = key[0] ?? null
          // What belongs to one record is in one file, so that no two files reach over one another.
          if (isFull(output, limits) && last !== undefined && compareCells(last, first) !== 0) await output.cut()
          output.take(group, row)
          last = first
        }
        signal.throwIfAborted()
        await stillMine()
      }
      await output.cut()
      return { files: [...output.files], taken: some.length }
    },
  }
}

type Reading = { objects: ObjectStore; limits: MergeLimits; signal: AbortSignal }

function openParts(
  table: Table,
  parts: readonly PartFile[],
  { objects, limits, signal }: Reading,
): Promise<SortedPart[]> {
  // Each part has one window that is read and one that comes.
  const windowBytes = Math.max(leastWindow, Math.floor(limits.readAheadBytes / 2 / parts.length))
  const reading = { objects, windowBytes, inTurn: createQueue(readsAtOnce), signal }
  return mapConcurrently(parts, readsAtOnce, (part) => openSortedPart(table, part, reading))
}

function isFull({ rows, bytes }: RollingFile<PartFile>, limits: MergeLimits): boolean {
  return rows >= limits.rows || bytes >= limits.bytes
}

/** The files that parts become, as the publication lists them. */
function createMergedFiles(
  table: Table,
  parts: readonly PartFile[],
  { objects, signal }: { objects: ObjectStore; signal: AbortSignal },
): RollingFile<PartFile> {
  const keep = async ({ writer, rows }: { writer: RowFileWriter; rows: number }, number: number) => {
    const bytes = writer.finish()
    const key = mergedKey(parts, number)
    await objects.put(key, bytes, { signal, contentType: 'application/vnd.apache.parquet' })
    const file = { kind: 'changes', table: table.name, key, rows, schemaVersion: schemaVersion(table) } as const
    return { ...file, bytes: bytes.byteLength, sha256: sha256(bytes) }
  }
  const columns = identifiedColumnsOf(table).length
  return createRollingFile({ columns, groupRows, open: () => rowFiles.open(table), keep })
}
