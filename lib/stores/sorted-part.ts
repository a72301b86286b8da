import type { SortedRows } from '../publish/iceberg/merge-rows.ts'
import { type Cell, type Column, columnsOf, type Table } from '../streams/table.ts'
import type { PartFile } from '../sync/checkpoint.ts'
import { intactPart } from './intact-part.ts'
import { inOrder, keyOrder } from './key-order.ts'
import type { ObjectStore } from './objects.ts'
import { appendRows } from './parquet-rows.ts'
import { openPart } from './part-rows.ts'
import { type Windows, windowsOf } from './part-windows.ts'

/** A part whose rows go by key. */
export type SortedPart = { groups(columns: readonly Pick<Column, 'name'>[]): SortedRows }

type Opening = Windows & { objects: Pick<ObjectStore, 'get'> }

/** Opens a part of any form that parts ever had. @throws FatalError `damaged_state` when it is gone or damaged. */
export async function openSortedPart(table: Table, part: PartFile, opening: Opening): Promise<SortedPart> {
  return part.key.endsWith('.parquet') ? openParquet(table, part, opening) : openPart(windowsOf(part, opening))
}

/** A part that an earlier version wrote: Parquet, in the order in which the records came. It is small, and read whole. */
async function openParquet(table: Table, part: PartFile, { objects, signal }: Opening): Promise<SortedPart> {
  const found = await objects.get(part.key)
  // Whoever took over merges them, too, and removes them then.
  signal.throwIfAborted()
  const bytes = intactPart(part, found)
  const columns: Cell[][] = columnsOf(table).map(() => [])
  await appendRows(columns, table, bytes)
  const rows = columns[0]?.length ?? 0
  const order = keyOrder({ table, columns, rows })
  const sorted = columns.map((cells) => inOrder(cells, order))
  return { groups: () => [sorted] }
}
