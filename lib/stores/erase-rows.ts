import { parquetMetadata } from 'hyparquet'
import { FatalError } from '../core/errors.ts'
import { erased, type Finder } from '../erase/person.ts'
import type { Rewritten } from '../erase/ports.ts'
import { type Stream, tablesOf } from '../streams/stream.ts'
import { type Cell, columnsOf, type Table } from '../streams/table.ts'
import { inOrder, keyOrder } from './key-order.ts'
import { groupRows } from './parquet.ts'
import { appendRows, bufferOf } from './parquet-rows.ts'
import { readRows } from './read-rows.ts'
import { rowFiles } from './row-files.ts'

/** The texts of a file's rows; of some columns, or of all that hold text. */
export async function* textRows(bytes: Uint8Array, wanted?: readonly string[]): AsyncGenerator<(string | null)[]> {
  const columns = (wanted ?? textColumns(bytes)).map((name) => ({ name, type: 'string' as const, doc: '', id: 0 }))
  for await (const group of readRows(bytes, columns)) {
    const rows = group[0]?.length ?? 0
    for (let row = 0; row < rows; row++) {
      yield group.map((cells) => (typeof cells[row] === 'string' ? (cells[row] as string) : null))
    }
  }
}

function textColumns(bytes: Uint8Array): string[] {
  const { schema } = parquetMetadata(bufferOf(bytes))
  return schema.filter(({ type }) => type === 'BYTE_ARRAY').map(({ name }) => name)
}

/**
 * A file of a table without a person: rows about them go, in others what names them is replaced. It is sorted, and its bounds
 * are made, as those of a published file are.
 */
export async function rowsWithout(
  { stream, key, bytes }: { stream: Stream; key: string; bytes: Uint8Array },
  finder: Finder,
): Promise<Rewritten> {
  const table = tableOf(stream, key)
  const before: Cell[][] = columnsOf(table).map(() => [])
  await appendRows(before, table, bytes)
  const columns = without(table, before, { finder, about: stream.about?.column })
  const rows = columns[0]?.length ?? 0
  if (rows === 0) return null
  const order = keyOrder({ table, columns, rows })
  const file = rowFiles.open(table)
  for (let from = 0; from < rows; from += groupRows) {
    const some = order.subarray(from, from + groupRows)
    file.add(columns.map((cells) => inOrder(cells, some)))
  }
  return { bytes: file.finish(), rows }
}

function tableOf(stream: Stream, key: string): Table {
  const table = tablesOf(stream).find(({ name }) => key.startsWith(`changes/${name}/`))
  if (table) return table
  throw new FatalError(`${key} is a file of no table of ${stream.name}.`, { code: 'damaged_state' })
}

type Erasing = { finder: Finder; about: string | undefined }

function without(table: Table, before: readonly Cell[][], { finder, about }: Erasing): Cell[][] {
  const after: Cell[][] = before.map(() => [])
  const subject = columnsOf(table).findIndex(({ name }) => name === about)
  const rows = before[0]?.length ?? 0
  for (let row = 0; row < rows; row++) {
    const cells = before.map((column) => column[row] as Cell)
    const who = cells[subject]
    if (typeof who === 'string' && finder.is(who)) continue
    const isNamed = cells.some((cell) => typeof cell === 'string' && finder.isIn(cell))
    for (const [at, cell] of cells.entries()) {
      after[at]?.push(isNamed && typeof cell === 'string' ? cellWithout(cell, finder) : cell)
    }
  }
  return after
}

function cellWithout(cell: string, finder: Finder): Cell {
  return finder.is(cell) ? erased : finder.without(cell)
}
