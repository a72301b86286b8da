import { type Command, Option } from 'commander'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { number, type Output, tableText } from './output.ts'
import { createLog } from './progress.ts'
import type { Answer, Value } from './query-rows.ts'

type Options = { format?: 'table' | 'json' | 'csv' }

/** `platform-sync query "<sql>"` */
export const addQuery = (program: Command, cli: Cli): void => {
  withLocal(program.command('query'))
    .description(
      'ask the published lake in SQL (DuckDB): a view per table and its <table>_current, see docs/streams.md',
    )
    .argument('<sql>', 'for example "select status, count(*) from sessions_current group by all"')
    .addOption(new Option('--format <format>', 'how to print rows').choices(['table', 'json', 'csv']))
    .action(action<Options, [string]>(cli, (io, options, sql) => query(cli, io, { ...options, sql })))
}

const query = async (cli: Cli, io: Output, options: Options & CommonOptions & { sql: string }): Promise<ExitCode> => {
  const { openSession } = await import('./session.ts')
  const { openLakeDatabase } = await import('./lake-database.ts')
  const { ask } = await import('./query-rows.ts')
  const log = createLog({ line: io.note }, { verbose: options.verbose === true })
  const session = await openSession(cli, { options, log, platform: false, note: io.note })
  try {
    const database = await openLakeDatabase(session.app, options.sql)
    try {
      const answer = await ask(database.connection, options.sql)
      const format = options.format ?? (io.json ? 'json' : 'table')
      io.write(render[format](answer))
    } finally {
      await database.close()
    }
    return exitCodes.complete
  } finally {
    await session.close()
  }
}

const shownRows = 200
const shownCharacters = 60

/** Rows as a table for people: the first ones, long texts cut. */
export const answerTable = ({ columns, numeric, rows }: Answer): string => {
  const heads = columns.map((title, at) => ({ title, right: numeric[at] === true }))
  const cells = rows.slice(0, shownRows).map((row) => row.map((value) => cut(plain(value))))
  return tableText(heads, cells)
}

const sayAnswer = (answer: Answer): string => {
  const { length } = answer.rows
  const more = length > shownRows ? `, of which ${shownRows} are shown (--format csv or json shows all)` : ''
  return `${answerTable(answer)}\n\n${number(length)} row${length === 1 ? '' : 's'}${more}\n`
}

const render = {
  table: sayAnswer,
  json: ({ columns, rows }: Answer): string =>
    `${JSON.stringify(
      rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]]))),
      null,
      2,
    )}\n`,
  csv: ({ columns, rows }: Answer): string =>
    [columns, ...rows].map((cells) => `${cells.map((value) => csvCell(plain(value))).join(',')}\n`).join(''),
} as const

const plain = (value: Value | undefined): string => {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const cut = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > shownCharacters ? `${line.slice(0, shownCharacters - 1)}…` : line
}

const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
