import { Command, CommanderError } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { messageOf, SyncError } from '../core/errors.ts'
import { addApprove } from './approve.ts'
import { addAudit } from './audit.ts'
import { addClientPackage } from './client-package.ts'
import { type Cli, withFolders } from './command.ts'
import { addCompletion } from './completion.ts'
import { addDemo } from './demo.ts'
import { addDocs } from './docs.ts'
import { addDoctor } from './doctor.ts'
import { addErase } from './erase.ts'
import { exitCodeOf, exitCodes } from './exit-codes.ts'
import { addHooks } from './hooks.ts'
import { addLimits } from './limits.ts'
import { addQuery } from './query.ts'
import { addReport } from './report.ts'
import { addReset } from './reset.ts'
import { addServe } from './serve.ts'
import { addSimulator } from './simulator.ts'
import { addStatus } from './status.ts'
import { addSync } from './sync.ts'
import { toldError } from './told-error.ts'
import { addWarehouse } from './warehouse.ts'

const commands = [
  addDemo,
  addSync,
  addStatus,
  addQuery,
  addReport,
  addServe,
  addWarehouse,
  addLimits,
  addReset,
  addApprove,
  addErase,
  addAudit,
  addHooks,
  addDoctor,
  addSimulator,
  addDocs,
  addClientPackage,
  addCompletion,
] as const

/** Runs one command line. Never throws: what goes wrong is told on stderr, and by the exit code. */
export async function runCli(args: readonly string[], cli: Cli): Promise<void> {
  const program = new Command('platform-sync')
    .description("Keeps an organization's Agent Platform data in its own AWS account, or on this machine.")
    .version(packageJson.version, '-V, --version', 'print the version')
    .showHelpAfterError('(--help shows what there is)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void cli.stdout.write(text),
      writeErr: (text) => void cli.stderr.write(text),
    })
  for (const add of commands) add(program, cli)
  try {
    await program.parseAsync(withFolders(args), { from: 'user' })
  } catch (error) {
    cli.exit(report(await toldError(error, { args, variables: cli.variables }), args, cli))
  }
}

function report(error: unknown, args: readonly string[], cli: Cli) {
  // Commander has said what it has to say.
  if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.complete
  const code = error instanceof CommanderError ? exitCodes.usage : exitCodeOf(error)
  if (args.includes('--json')) {
    const name = error instanceof SyncError ? error.code : error instanceof CommanderError ? 'usage' : 'bug'
    cli.stdout.write(`${JSON.stringify({ error: { code: name, message: messageOf(error) } }, null, 2)}\n`)
  }
  if (!(error instanceof CommanderError)) cli.stderr.write(`${textOf(error, args.includes('--verbose'))}\n`)
  return code
}

/** Errors thrown on purpose are told by their message; anything else is a bug and surfaces with its stack. */
function textOf(error: unknown, verbose: boolean): string {
  if (error instanceof SyncError && !verbose) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
