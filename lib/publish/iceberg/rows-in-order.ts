import type { IdentifiedColumn } from '../../streams/field-ids.ts'
import { compareCells, orderColumns } from '../../streams/row-order.ts'
import type { Cell, Table } from '../../streams/table.ts'
import type { PartFile } from '../../sync/checkpoint.ts'
import { chainsOf } from './chains.ts'
import { compareKeys, existing, type Inspected } from './inspect.ts'
import type { RowGroup } from './ports.ts'
import type { TableUpdate } from './update.ts'

type Reading = Pick<TableUpdate, 'look' | 'stillMine' | 'deps'> & {
  columns: readonly IdentifiedColumn[]
  /** A key whose rows, and all before it, nobody asks for: files that end before it are left out. */
  after?: readonly Cell[] | null
}

/**
 * The rows of files in the order of their key, as few sources: files of which each begins after the one before it has ended
 * are one, so that only one of them is in memory. `columns` must hold those of the order.
 */
export async function sourcesInOrder(
  files: readonly PartFile[],
  table: Table,
  reading: Reading,
): Promise<AsyncGenerator<RowGroup>[]> {
  const looked: Looked[] = []
  for (const file of files) {
    const found = await reading.look(file)
    if (!endsBefore(found, reading.after?.[0])) looked.push({ file, ...found })
    await reading.stillMine()
  }
  const inPlace = looked.toSorted((a, b) => compareCells(a.from, b.from))
  return chainsOf(inPlace, isAfter).map((chain) => rowsOf(chain, table, reading))
}

type Looked = Inspected & { file: PartFile }

function endsBefore({ sorted, to }: Inspected, first: Cell | undefined): boolean {
  return first !== undefined && sorted && compareCells(to, first) < 0
}

function isAfter(next: Looked, last: Looked): boolean {
  return next.sorted && last.sorted && compareCells(last.to, next.from) < 0
}

async function* rowsOf(files: readonly Looked[], table: Table, { columns, deps }: Reading): AsyncGenerator<RowGroup> {
  for (const { file, sorted } of files) {
    const groups = deps.rows.read(await existing(file.key, deps), columns)
    if (sorted) yield* groups
    else yield* inOrder(groups, columns, table)
  }
}

/** Rows that do not go by key, as one group that does: a file like that is a part that a first version published, and small. */
async function* inOrder(
  groups: AsyncIterable<RowGroup>,
  columns: readonly IdentifiedColumn[],
  table: Table,
): AsyncGenerator<RowGroup> {
  const all: Cell[][] = columns.map(() => [])
  for await (const group of groups)
    for (const [at, cells] of group.entries()) for (const cell of cells) all[at]?.push(cell)
  const keyAt = orderColumns(table).map((name) => columns.findIndex((column) => column.name === name))
  const keys = (all[0] ?? []).map((_, row) => keyAt.map((at) => all[at]?.[row] ?? null))
  const order = [...keys.keys()].sort((a, b) => compareKeys(keys[a] ?? [], keys[b] ?? []))
  yield all.map((cells) => order.map((row) => cells[row] ?? null))
}
