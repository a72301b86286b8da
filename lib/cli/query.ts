import { type Command, Option } from 'commander'
import { FatalError } from '../core/errors.ts'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { PublishedLake } from './lake-files.ts'
import type { Output } from './output.ts'
import { answerText, type Format, fittingFormat, formats } from './query-layout.ts'
import type { Answer } from './query-rows.ts'

type Options = { format?: Format; columns?: string }

/** `platform-sync query "<sql>"` */
export function addQuery(program: Command, cli: Cli): void {
  withLocal(program.command('query'))
    .description(
      'ask the published lake in SQL (DuckDB): a view per table and its <table>_current, see docs/streams.md',
    )
    .argument('[sql]', 'for example "select status, count(*) from sessions_current group by all"')
    .addOption(new Option('--format <format>', 'how to print rows').choices([...formats]))
    .option('--columns <table>', 'instead of asking: what the columns of a table mean')
    .action(action<Options, [string?]>(cli, (io, options, sql) => query(cli, io, { ...options, sql })))
}

async function query(
  cli: Cli,
  io: Output,
  options: Options & CommonOptions & { sql?: string | undefined },
): Promise<ExitCode> {
  const { sql, columns, format } = options
  if (io.json && (format ?? 'json') !== 'json') {
    throw new FatalError(`--json and --format ${format} ask for two things: leave one out.`, { code: 'usage' })
  }
  if ((sql === undefined) === (columns === undefined)) {
    throw new FatalError('query takes a question in SQL, or --columns with the name of a table.', { code: 'usage' })
  }
  const say = (answer: Answer) => {
    io.write(answerText(answer, { format: format ?? usualFormat(answer, io), width: io.columns }))
    return exitCodes.complete
  }
  if (columns !== undefined) {
    const { columnsAnswer } = await import('./query-columns.ts')
    return say(columnsAnswer(columns))
  }
  return answer(cli, io, { ...options, sql: sql ?? '', say })
}

function usualFormat(answer: Answer, io: Output): Format {
  if (io.json) return 'json'
  return io.isTerminal ? fittingFormat(answer, io.columns) : 'table'
}

type Asking = CommonOptions & { sql: string; say: (answer: Answer) => ExitCode }

async function answer(cli: Cli, io: Output, { say, ...options }: Asking): Promise<ExitCode> {
  const { composeInspect } = await import('../compose/inspect.ts')
  const { isUnused, withWorkspace } = await import('./workspace.ts')
  const { emptyLake } = await import('./lake-files.ts')
  const answering = async (from: PublishedLake) => {
    const found = await answerOf(from, options.sql, cli.interrupted)
    return found === null ? exitCodes.interrupted : say(found)
  }
  if (await isUnused(options, io)) return answering(emptyLake)
  return withWorkspace(cli, { io, options, platform: false, looks: true }, ({ open }) =>
    answering(open(composeInspect)),
  )
}

/** Null when someone interrupted it. */
async function answerOf(from: PublishedLake, sql: string, signal: AbortSignal): Promise<Answer | null> {
  const { askLake } = await import('./lake-database.ts')
  try {
    return await askLake(from, sql, signal)
  } catch (error) {
    if (signal.aborted) return null
    throw error
  }
}
