import type { DuckDBConnection } from '@duckdb/node-api'
import { currentName } from '../streams/current.ts'
import { streams } from '../streams/index.ts'
import { runsColumns, runsTable } from '../streams/runs-table.ts'
import { tablesOf } from '../streams/stream.ts'
import { type Column, columnsOf } from '../streams/table.ts'
import { quoted } from '../warehouse/dialect.ts'

type Described = { name: string; doc: string; columns: readonly Column[] }

/** What a question names that wants to know what columns mean. */
const catalog = /\bduckdb_(?:columns|views)\b|\bcomment\b/i

/** Gives the views their comments, and the columns theirs, where a question asks for comments: they are a thousand, and take their time. */
export async function commentViews(connection: DuckDBConnection, sql: string): Promise<void> {
  if (!catalog.test(sql)) return
  const views = streams.flatMap(tablesOf).flatMap((table): Described[] => {
    const { name, doc } = table
    const columns = columnsOf(table)
    return [
      { name, doc, columns },
      { name: currentName(table), doc: `As it is now: ${doc}`, columns },
    ]
  })
  const statements = [...views, { ...runsTable, columns: runsColumns }].flatMap(commentsOf)
  await connection.run(['begin', ...statements, 'commit'].join(';\n'))
}

function commentsOf({ name, doc, columns }: Described): string[] {
  return [
    `comment on view ${name} is ${quoted(doc)}`,
    ...columns.map((column) => `comment on column ${name}.${column.name} is ${quoted(column.doc)}`),
  ]
}
