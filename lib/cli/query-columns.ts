import { FatalError } from '../core/errors.ts'
import { currentName } from '../streams/current.ts'
import { streams } from '../streams/index.ts'
import { tablesOf } from '../streams/stream.ts'
import { columnsOf, type Table } from '../streams/table.ts'
import type { Answer } from './query-rows.ts'

/**
 * The columns of a table or of its `<table>_current`: name, type and meaning, as they are declared.
 * @throws FatalError `usage` that names all tables, when there is none of that name.
 */
export function columnsAnswer(name: string): Answer {
  const tables = streams.flatMap((stream) => tablesOf(stream))
  const wanted = name.toLowerCase()
  const table = tables.find((one) => [one.name, currentName(one)].includes(wanted))
  if (!table) throw noTable(name, tables)
  return {
    columns: ['column', 'type', 'meaning'],
    numeric: [false, false, false],
    rows: columnsOf(table).map((column) => [column.name, column.type, column.doc]),
  }
}

function noTable(name: string, tables: readonly Table[]): FatalError {
  const names = tables.map((table) => table.name).join(', ')
  return new FatalError(`There is no table ${name}. There are: ${names}; and each with _current behind its name.`, {
    code: 'usage',
  })
}
