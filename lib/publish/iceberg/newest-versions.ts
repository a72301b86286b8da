import { orderColumns } from '../../streams/row-order.ts'
import type { Cell, Table } from '../../streams/table.ts'
import type { PartFile } from '../../sync/checkpoint.ts'
import { columnsNamed, compareKeys } from './inspect.ts'
import { mergedRows } from './merge-rows.ts'
import { sourcesInOrder } from './rows-in-order.ts'
import type { TableUpdate } from './update.ts'
import { isNewer, type Version, versionColumns, versionReader } from './versions.ts'

/** A record among what changed, and the newest version of it there. */
export type Newest = { key: readonly Cell[]; version: Version }

/** Tells the newest version of records that are asked for in the order of their keys. */
export type NewestVersions = {
  /**
   * Null when the record is not among what changed. `key` may go on: its first cells are those of the record's key. It
   * waits for nothing where it can.
   */
  seek(key: readonly Cell[]): Newest | null | Promise<Newest | null>
}

type Reading = Pick<TableUpdate, 'look' | 'stillMine' | 'deps'> & {
  main: Table
  /** The key after which records are asked for. */
  after?: readonly Cell[] | null
}

/** The newest versions that files of a stream's main table hold, read anew each time. Little of them is in memory. */
export function newestVersions(files: readonly PartFile[], update: Reading): NewestVersions {
  const chunks = recordsOf(files, update)
  let chunk: readonly Newest[] = []
  let at = 0
  const seek = (key: readonly Cell[]): ReturnType<NewestVersions['seek']> => {
    for (; at < chunk.length; at++) {
      const next = chunk[at] as Newest
      const difference = compareKeys(next.key, key)
      if (difference === 0) return next
      if (difference > 0) return null
    }
    return more(key)
  }
  const more = async (key: readonly Cell[]): Promise<Newest | null> => {
    const { done, value } = await chunks.next()
    if (done) return null
    chunk = value
    at = 0
    return seek(key)
  }
  return { seek }
}

/** The records of main files in the order of their keys, in chunks. */
export async function* recordsOf(
  files: readonly PartFile[],
  { main, look, stillMine, after = null, deps }: Reading,
): AsyncGenerator<readonly Newest[]> {
  const columns = columnsNamed(main, [...main.key, ...versionColumns])
  const versionAt = versionReader(columns)
  const sources = await sourcesInOrder(files, main, { columns, look, stillMine, after, deps })
  let last: Newest | null = null
  for await (const places of mergedRows(sources, columns, orderColumns(main))) {
    const found: Newest[] = []
    for (const { group, row, key } of places) {
      const version = versionAt(group, row)
      if (last && compareKeys(last.key, key) === 0) {
        if (isNewer(version, last.version)) last.version = version
        continue
      }
      if (last) found.push(last)
      last = { key: key.slice(0, main.key.length), version }
    }
    yield found
  }
  if (last) yield [last]
}
