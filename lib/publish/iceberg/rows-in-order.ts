import type { IdentifiedColumn } from '../../streams/field-ids.ts'
import { orderColumns } from '../../streams/row-order.ts'
import type { Cell, Table } from '../../streams/table.ts'
import type { PartFile } from '../../sync/checkpoint.ts'
import { compareKeys, existing } from './inspect.ts'
import type { RowGroup } from './ports.ts'
import type { TableUpdate } from './update.ts'

type Reading = Pick<TableUpdate, 'look' | 'deps'> & { columns: readonly IdentifiedColumn[] }

/** The rows of a file in the order of their key. `columns` must hold those of the order. */
export async function* rowsInOrder(
  file: PartFile,
  table: Table,
  { columns, look, deps }: Reading,
): AsyncGenerator<RowGroup> {
  const { sorted } = await look(file)
  const groups = deps.rows.read(await existing(file.key, deps), columns)
  if (sorted) yield* groups
  else yield* inOrder(groups, columns, table)
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
