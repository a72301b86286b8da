import { FatalError } from '../../core/errors.ts'
import { type IdentifiedColumn, identifiedColumnsOf } from '../../streams/field-ids.ts'
import { compareCells } from '../../streams/row-order.ts'
import type { Cell, Table } from '../../streams/table.ts'
import type { PartFile } from '../../sync/checkpoint.ts'
import type { IcebergDeps, RowGroup } from './ports.ts'
import { boundedColumns, type ColumnStatistics, gatherStatistics } from './statistics.ts'
import { dayOf } from './values.ts'

/** The columns of some names, in the order of the names. */
export function columnsNamed(table: Table, names: readonly string[]): IdentifiedColumn[] {
  const columns = identifiedColumnsOf(table)
  return names.map((name) => columns.find((column) => column.name === name)!)
}

/**
 * What is known of a file of the change log once it was looked at: whether its rows go by key, whether they are all
 * upserts of a key of their own, and the first cells of the keys that they begin and end with.
 */
export type Inspected = {
  statistics: ColumnStatistics[]
  day: number | null
  sorted: boolean
  single: boolean
  from: Cell
  to: Cell
}

/** Reads an object that must be there. @throws FatalError `damaged_state` when it is gone. */
export async function existing(
  key: string,
  { files }: { files: Pick<IcebergDeps['files'], 'get'> },
): Promise<Uint8Array> {
  const bytes = await files.get(key)
  if (bytes) return bytes
  throw goneFile(key)
}

/** What to say of a file that must be there. */
export function goneFile(key: string): FatalError {
  return new FatalError(
    `The object ${key} of the lake is gone, which a table lists. Restore an earlier version of it.`,
    { code: 'damaged_state' },
  )
}

/** Looks at files of some tables, at each of them once. */
export function createLook(tables: readonly Table[], deps: IcebergDeps): (file: PartFile) => Promise<Inspected> {
  const looks = new Map<string, Promise<Inspected>>()
  return (file) => {
    const known = looks.get(file.key)
    if (known) return known
    const look = inspect(file, tables.find(({ name }) => name === file.table) as Table, deps)
    looks.set(file.key, look)
    return look
  }
}

/** Looks at a file: the bounds of its columns, its day, and what its keys are like. */
async function inspect({ key }: Pick<PartFile, 'key'>, table: Table, deps: IcebergDeps): Promise<Inspected> {
  const bounded = boundedColumns(table, identifiedColumnsOf(table))
  const columns = [...bounded, ...columnsNamed(table, ['_op'])]
  const gathering = gatherStatistics(bounded)
  const order = watchOrder(table.key.map((name) => columns.findIndex((column) => column.name === name)))
  const syncedAt = columns.findIndex(({ name }) => name === '_synced_at')
  const [first] = table.key.map((name) => columns.findIndex((column) => column.name === name)) as [number]
  let from: Cell = null
  let to: Cell = null
  let day: number | null = null
  let upserts = true
  for await (const group of deps.rows.read(await existing(key, deps), columns)) {
    gathering.add(group)
    upserts &&= group.at(-1)?.every((op) => op === 'upsert') ?? true
    order.add(group)
    from ??= group[first]?.[0] ?? null
    to = group[first]?.at(-1) ?? null
    const at = group[syncedAt]?.[0]
    // A file's rows are of scans that began on one day, whose name its folder bears.
    if (typeof at === 'number') day = dayOf(at)
  }
  const { sorted, unique } = order.seen()
  return { statistics: gathering.statistics(), day, sorted, single: upserts && sorted && unique, from, to }
}

/** Whether no file reaches into the range of another, by the first cells of their keys. */
export function areApart(files: readonly Pick<Inspected, 'from' | 'to'>[]): boolean {
  const inOrder = files.toSorted((a, b) => compareCells(a.from, b.from))
  return inOrder.every(({ from }, at) => at === 0 || compareCells(inOrder[at - 1]!.to, from) < 0)
}

/** Watches whether rows go by key, and none like another; `keyAt` says where its cells stand in a group. */
function watchOrder(keyAt: readonly number[]) {
  let previous: Cell[] | null = null
  let sorted = true
  let unique = true
  return {
    seen: () => ({ sorted, unique }),
    add: (group: RowGroup) => {
      const rows = group[0]?.length ?? 0
      for (let row = 0; row < rows && sorted; row++) {
        const cells = keyAt.map((at) => group[at]?.[row] ?? null)
        const difference = previous ? compareKeys(previous, cells) : -1
        if (difference > 0) sorted = false
        else if (difference === 0) unique = false
        previous = cells
      }
    },
  }
}

/** Order of two keys of a table, column by column. */
export function compareKeys(a: readonly Cell[], b: readonly Cell[]): number {
  for (const [at, cell] of a.entries()) {
    const difference = compareCells(cell, b[at] ?? null)
    if (difference !== 0) return difference
  }
  return 0
}
