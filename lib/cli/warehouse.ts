import { type Command, InvalidArgumentError, Option } from 'commander'
import { FatalError } from '../core/errors.ts'
import { groupsOf, includesRuns } from '../warehouse/groups.ts'
import { runsTableStatements } from '../warehouse/runs.ts'
import { tableStatements } from '../warehouse/tables.ts'
import { type Target, targets } from '../warehouse/targets.ts'
import { action, type Cli, type CommonOptions, withCommon, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { Output } from './output.ts'
import type { Warehouse } from './warehouse-run.ts'
import type { LoadableLake } from './warehouse-script.ts'

type Options = { for: Target; schema: string; history?: boolean; after?: string; run?: string | true }
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
    .option(
      '--run [database]',
      'run it, tables included, for what was not loaded yet: in a DuckDB file, or a PostgreSQL database that this or PG* variables name',
    )
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
  refuseRun(asked)
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

function refuseRun({ run, after, for: target }: Asked): void {
  if (run === undefined) return
  const refused = (why: string) => new FatalError(why, { code: 'usage' })
  if (target !== 'duckdb' && target !== 'postgres') {
    throw refused(
      `--run is for duckdb and postgres: print the SQL for ${target}, and run it with its own tool (docs/warehouse.md).`,
    )
  }
  if (after !== undefined) throw refused('--run goes without --after: the database itself knows what was loaded.')
  if (target === 'duckdb' && run === true)
    throw refused('--run with --for duckdb takes a file: --run warehouse.duckdb.')
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

async function runIn(io: Output, { lake, cli, ...asked }: Loading): Promise<ExitCode> {
  const { runLoad } = await import('./warehouse-run.ts')
  const { for: target, schema, history = false, tables } = asked
  const named = { groups: groupsOf(tables), runs: includesRuns(tables) }
  const place = { dialect: targets[target], schema, history }
  const warehouse = await openWarehouse(asked)
  try {
    const loaded = await runLoad(warehouse, { lake, place, ...named, signal: cli.interrupted })
    for (const { table, publications, rows } of loaded) {
      io.say(
        `${table}: ${rows} row${rows === 1 ? '' : 's'} of ${publications} publication${publications === 1 ? '' : 's'}, nested tables included`,
      )
    }
    if (loaded.length === 0) io.say('Nothing is published that is not loaded.')
    io.result({ database: warehouse.name, loaded })
    return exitCodes.complete
  } catch (error) {
    if (cli.interrupted.aborted) return exitCodes.interrupted
    throw error
  } finally {
    await warehouse.close()
  }
}

/** Drivers are loaded only here, by who asks for a database. */
async function openWarehouse({ for: target, run, schema }: Asked): Promise<Warehouse> {
  const where = typeof run === 'string' ? run : ''
  if (target === 'duckdb') return (await import('./warehouse-duckdb.ts')).openDuckDb(where)
  return (await import('./warehouse-postgres.ts')).openPostgres(where, { schema })
}
