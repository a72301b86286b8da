import { type Command, Option } from 'commander'
import { FatalError } from '../core/errors.ts'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { PublishedLake } from './lake-files.ts'
import { number, type Output, plain, tableText, widthOf } from './output.ts'
import type { Answer, Value } from './query-rows.ts'

type Options = { format?: 'table' | 'json' | 'csv' }

/** `platform-sync query "<sql>"` */
export function addQuery(program: Command, cli: Cli): void {
  withLocal(program.command('query'))
    .description(
      'ask the published lake in SQL (DuckDB): a view per table and its <table>_current, see docs/streams.md',
    )
    .argument('<sql>', 'for example "select status, count(*) from sessions_current group by all"')
    .addOption(new Option('--format <format>', 'how to print rows').choices(['table', 'json', 'csv']))
    .action(action<Options, [string]>(cli, (io, options, sql) => query(cli, io, { ...options, sql })))
}

async function query(cli: Cli, io: Output, options: Options & CommonOptions & { sql: string }): Promise<ExitCode> {
  const format = options.format ?? (io.json ? 'json' : 'table')
  if (io.json && format !== 'json') {
    throw new FatalError(`--json and --format ${format} ask for two things: leave one out.`, { code: 'usage' })
  }
  const { composeInspect } = await import('../compose/inspect.ts')
  const { isUnused, withWorkspace } = await import('./workspace.ts')
  const { emptyLake } = await import('./lake-files.ts')
  const answering = async (from: PublishedLake) => {
    const answer = await answerOf(from, options.sql, cli.interrupted)
    if (answer === null) return exitCodes.interrupted
    io.write(render[format](answer, io.columns))
    return exitCodes.complete
  }
  if (await isUnused(options, io)) return answering(emptyLake)
  return withWorkspace(cli, { io, options, platform: false, looks: true }, ({ open }) =>
    answering(open(composeInspect)),
  )
}

/** Null when someone interrupted it. */
async function answerOf(from: PublishedLake, sql: string, signal: AbortSignal): Promise<Answer | null> {
  const { openLakeDatabase } = await import('./lake-database.ts')
  const { ask } = await import('./query-rows.ts')
  try {
    const database = await openLakeDatabase(from, sql, signal)
    try {
      return await ask(database.connection, sql, signal)
    } finally {
      await database.close()
    }
  } catch (error) {
    if (signal.aborted) return null
    throw error
  }
}

const shownRows = 200
const cellWidths = [400, 100, 80, 60, 50, 40, 32, 24, 16]

/** Rows as a table for people: the first ones, with long texts cut as far as the width asks for it. */
export function answerTable({ columns, numeric, rows }: Answer, width: number): string {
  const heads = columns.map((title, at) => ({ title: cut(title, 100), right: numeric[at] === true }))
  const shown = rows.slice(0, shownRows).map((row) => row.map(textOf))
  let table = ''
  for (const most of cellWidths) {
    table = tableText(
      heads,
      shown.map((row) => row.map((text) => cut(text, most))),
    )
    if (widthOf(table) <= width) break
  }
  return table
}

function sayAnswer(answer: Answer, width: number): string {
  const { length } = answer.rows
  const more = length > shownRows ? `, of which ${shownRows} are shown (--format csv or json shows all)` : ''
  return `${answerTable(answer, width)}\n\n${number(length)} row${length === 1 ? '' : 's'}${more}\n`
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
    [columns, ...rows].map((cells) => `${cells.map((value) => csvCell(textOf(value))).join(',')}\n`).join(''),
} as const

function textOf(value: Value | undefined): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function cut(text: string, most: number): string {
  const line = plain(text.replaceAll(/\s+/g, ' '))
  if (line.length <= most) return line
  const characters = [...line]
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : line
}

function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
