import { existsSync, rmSync } from 'node:fs'
import type { Command } from 'commander'
import { FatalError } from '../core/errors.ts'
import { action, type Cli, withCommon } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { sayChange } from './hooks-install.ts'
import { type Machine, openMachine } from './hooks-place.ts'
import { number, type Output } from './output.ts'

type Options = { settings?: string; discard?: boolean; dryRun?: boolean }

/** `platform-sync hooks uninstall` */
export function addHooksUninstall(hooks: Command, cli: Cli): void {
  withCommon(hooks.command('uninstall'))
    .description("take our command out of the agent's user settings, and remove what it kept")
    .option('--settings <file>', 'only this settings file; all without it')
    .option('--discard', 'forget events that are not delivered yet')
    .option('--dry-run', 'show what would change in the settings file, and change nothing')
    .action(action<Options, []>(cli, (io, options) => uninstall(cli, io, options)))
}

async function uninstall(cli: Cli, io: Output, options: Options): Promise<ExitCode> {
  const { installationsIn, planUninstall, uninstall: uninstallFrom } = await import('../hooks/machine/install.ts')
  const machine = openMachine(cli.variables)
  const { place } = machine
  const named = options.settings ?? cli.variables.HOOKS_SETTINGS
  const files = named ? [named] : installationsIn(place).map(({ settings }) => settings)
  if (files.length === 0) {
    throw new FatalError(`${place.folder} tells of no installation. Name the settings file: --settings <file>.`, {
      code: 'usage',
    })
  }
  const changes = files.map((file) => planUninstall(place, file))
  for (const change of changes) {
    if (options.dryRun) sayChange(io, change)
    else {
      uninstallFrom(place, change)
      io.say(
        `${change.settings} ${change.before === change.after ? 'has' : 'is as it would be with'} no command of ours.`,
      )
    }
  }
  const kept = options.dryRun ? null : removeFolder(machine, installationsIn(place).length, options.discard === true)
  if (kept !== null) io.say(kept)
  const changed = changes.filter(({ before, after }) => before !== after).map(({ settings }) => settings)
  io.result({ changed, dryRun: options.dryRun === true, folderRemoved: !existsSync(place.folder) })
  return exitCodes.complete
}

/** Removes our folder when nothing needs it; otherwise says who does. */
function removeFolder({ place, spool }: Machine, installations: number, discard: boolean): string | null {
  if (!existsSync(place.folder)) return null
  if (installations > 0) return `${place.folder} stays: ${number(installations)} more settings use it.`
  const waiting = spool.list().length
  if (waiting > 0 && !discard) {
    return (
      `${place.folder} stays: ${number(waiting)} event${waiting === 1 ? ' is' : 's are'} not delivered. ` +
      'Run "hooks flush" and then "hooks uninstall" with --settings, or add --discard.'
    )
  }
  rmSync(place.folder, { recursive: true, force: true })
  return `${place.folder} is removed. End the sessions that are still open: they would look for the command in vain.`
}
