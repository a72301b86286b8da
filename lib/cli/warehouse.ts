import { type Command, InvalidArgumentError, Option } from 'commander'
import { FatalError } from '../core/errors.ts'
import { groupsOf, includesRuns } from '../warehouse/groups.ts'
import { runsTableStatements } from '../warehouse/runs.ts'
import { tableStatements } from '../warehouse/tables.ts'
import { type Target, targets } from '../warehouse/targets.ts'
import { action, type Cli, type CommonOptions, withCommon, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { Output } from './output.ts'
import type { LoadableLake } from './warehouse-script.ts'

type Options = { for: Target; schema: string; history?: boolean; after?: string; run?: string }
type Asked = Options & CommonOptions & { tables: readonly string[] }

/** `platform-sync warehouse` */
export function addWarehouse(program: Command, cli: Cli): void {
  const warehouse = program
    .command('warehouse')
    .description('write the SQL that loads the lake into a warehouse, see docs/warehouse.md')
  withTarget(withCommon(warehouse.command('ddl')))
    .description('print the SQL that makes the tables, with comments, and a view <table>_current for each')
    .action(action<Options, [string[]]>(cli, (io, options, tables) => ddl(io, { ...options, tables })))
  withTarget(withLocal(warehouse.command('load')))
    .description('print the SQL that loads what is published, or run it; to run it again changes nothing')
    .option('--after <time>', 'only what was published later than this published_at of the table loads')
    .option('--run <file>', 'run it in this DuckDB file, tables included: what was not loaded yet')
    .action(action<Options, [string[]]>(cli, (io, options, tables) => load(cli, io, { ...options, tables })))
}

function withTarget(command: Command): Command {
  return command
    .argument('[table...]', 'tables (all); a nested one brings its main table and all of its nested ones')
    .addOption(new Option('--for <warehouse>', 'the warehouse').choices(Object.keys(targets)).makeOptionMandatory())
    .option('--schema <name>', 'the schema of the tables', schemaName, 'platform_sync')
    .option('--history', 'all versions of records in tables of their own, as dbt/ needs them, and not the newest')
}

function schemaName(text: string): string {
  if (/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(text)) return text
  throw new InvalidArgumentError('It must be letters, digits and _, as platform_sync.')
}

async function ddl(io: Output, { for: target, schema, history = false, tables }: Asked): Promise<ExitCode> {
  const place = { dialect: targets[target], schema, history }
  const runs = includesRuns(tables) ? runsTableStatements(place) : []
  const statements = [...tableStatements(place, groupsOf(tables)), ...runs]
  const { withEnd } = await import('./warehouse-script.ts')
  const sql = statements.map(withEnd).join('\n')
  if (io.json) io.result({ for: target, sql })
  else io.write(sql)
  return exitCodes.complete
}

async function load(cli: Cli, io: Output, asked: Asked): Promise<ExitCode> {
  if (asked.run !== undefined && (asked.for !== 'duckdb' || asked.after !== undefined)) {
    throw new FatalError(
      '--run is for --for duckdb alone, and without --after: the file itself knows what was loaded. Print the SQL of the ' +
        'others, and run it with their own tools (docs/warehouse.md).',
      { code: 'usage' },
    )
  }
  if (asked.local !== undefined && asked.for !== 'duckdb' && asked.for !== 'postgres') {
    throw new FatalError(
      `${asked.for} can't read a folder of this machine: leave out --local, or load into DuckDB or Postgres.`,
      {
        code: 'usage',
      },
    )
  }
  // A mistake in a name is told before anything is opened.
  groupsOf(asked.tables)
  const { composeInspect } = await import('../compose/inspect.ts')
  const { isUnused, withWorkspace } = await import('./workspace.ts')
  const { emptyLake } = await import('./lake-files.ts')
  const loading = (lake: LoadableLake) => (asked.run === undefined ? print : runIn)(io, { ...asked, lake, cli })
  if (await isUnused(asked, io)) return loading({ ...emptyLake, root: '' })
  return withWorkspace(cli, { io, options: asked, platform: false, looks: true }, ({ open, folder }) => {
    const { lake, objects } = open(composeInspect)
    const root = folder === null ? `s3://${objects.bucket}/` : `${folder}/s3/${objects.bucket}/`
    return loading({ lake, objects, root })
  })
}

type Loading = Asked & { lake: LoadableLake; cli: Cli }

async function print(io: Output, { for: target, after = '', lake, cli, ...asking }: Loading): Promise<ExitCode> {
  const { scriptOf } = await import('./warehouse-script.ts')
  const { schema, history = false, tables } = asking
  const place = { dialect: targets[target], schema, history }
  let sql = ''
  const asked = { place, groups: groupsOf(tables), runs: includesRuns(tables), after, signal: cli.interrupted }
  for await (const text of scriptOf(lake, asked)) {
    if (io.json) sql += text
    else io.write(text)
  }
  io.result({ for: target, sql })
  return cli.interrupted.aborted ? exitCodes.interrupted : exitCodes.complete
}

async function runIn(io: Output, { schema, history = false, tables, run = '', lake, cli }: Loading): Promise<ExitCode> {
  const { loadIntoDuckDb } = await import('./warehouse-duckdb.ts')
  const named = { groups: groupsOf(tables), runs: includesRuns(tables) }
  const asked = { place: { dialect: targets.duckdb, schema, history }, ...named, database: run }
  try {
    const loaded = await loadIntoDuckDb(lake, { ...asked, signal: cli.interrupted })
    for (const { table, publications, rows } of loaded) {
      io.say(
        `${table}: ${rows} row${rows === 1 ? '' : 's'} of ${publications} publication${publications === 1 ? '' : 's'}, nested tables included`,
      )
    }
    if (loaded.length === 0) io.say('Nothing is published that is not loaded.')
    io.result({ database: run, loaded })
    return exitCodes.complete
  } catch (error) {
    if (cli.interrupted.aborted) return exitCodes.interrupted
    throw error
  }
}
