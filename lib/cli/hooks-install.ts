import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { FatalError, messageOf } from '../core/errors.ts'
import { hookEventNames } from '../hooks/machine/event.ts'
import type { SettingsChange } from '../hooks/machine/install.ts'
import type { MachineConfig } from '../hooks/machine/place.ts'
import { action, type Cli, wholeNumber, withCommon } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { type Machine, openMachine } from './hooks-place.ts'
import type { Output } from './output.ts'
import { changedLines } from './text-difference.ts'

type Options = {
  settings?: string
  events: string[]
  address?: string
  tokenFile?: string
  timeout?: number
  agentVersion?: string
  dryRun?: boolean
}

/** `platform-sync hooks install` */
export function addHooksInstall(hooks: Command, cli: Cli): void {
  withCommon(hooks.command('install'))
    .description("put our command into the agent's user settings, beside whatever is there")
    .option('--settings <file>', 'the user settings file of the agent; HOOKS_SETTINGS without it')
    .option('--events <names>', `which events, with commas between them (${hookEventNames.join(',')})`, eventNames, [
      ...hookEventNames,
    ])
    .option('--address <url>', 'where the collector answers; HOOKS_ADDRESS without it')
    .option('--token-file <file>', 'a file with the token of the collector; it is copied into our own folder')
    .option('--timeout <seconds>', 'how long the agent lets the command run (10)', wholeNumber({ min: 1, max: 600 }))
    .option('--agent-version <version>', 'the version of the agent, to be told with each event')
    .option('--dry-run', 'show what would change in the settings file, and change nothing')
    .action(action<Options, []>(cli, (io, options) => install(cli, io, options)))
}

function eventNames(text: string): string[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))]
  const known = new Set<string>(hookEventNames)
  const strange = names.filter((name) => !known.has(name))
  if (strange.length === 0) return names
  throw new InvalidArgumentError(`The events are ${hookEventNames.join(', ')}.`)
}

async function install(cli: Cli, io: Output, options: Options): Promise<ExitCode> {
  const { bundleCommand } = await import('../hooks/machine/bundle.ts')
  const { entryFor } = await import('../hooks/machine/command-line.ts')
  const { install: installIn, planInstall } = await import('../hooks/machine/install.ts')
  const machine = openMachine(cli.variables)
  const { place } = machine
  const settings = await settingsFile(cli, options, machine)
  const config = configWith(cli, options, machine)
  const { events } = options
  const change = planInstall(place, settings, { events, entry: entryFor(place, config.timeoutSeconds) })
  const changed = change.before !== change.after
  if (options.dryRun) sayChange(io, change)
  else {
    const command = await bundleCommand()
    const { backup } = atFolder(place.folder, () =>
      installIn(place, change, { command, config, events, now: cli.clock.now() }),
    )
    io.say(`${change.settings} ${changed ? 'runs' : 'already runs'} ${place.command} at ${events.join(', ')}.`)
    if (changed)
      io.say(backup === null ? 'There was no such file before.' : `What it was before: ${place.backups}/${backup}`)
    io.say(`Events go to ${config.address}. Sessions that are open read their settings when they start anew.`)
  }
  const { command } = place
  io.result({
    settings: change.settings,
    events,
    command,
    address: config.address,
    changed,
    dryRun: options.dryRun === true,
  })
  return exitCodes.complete
}

/** The settings file that is meant: of an option, of the environment, or the only one that is installed. */
async function settingsFile(cli: Cli, { settings }: Options, { place }: Machine): Promise<string> {
  const { installationsIn } = await import('../hooks/machine/install.ts')
  const named = settings ?? cli.variables.HOOKS_SETTINGS
  if (named) return named
  const [only, ...more] = installationsIn(place)
  if (only && more.length === 0) return only.settings
  throw new FatalError(
    'Name the user settings file of the agent with --settings <file> or HOOKS_SETTINGS: the platform does not say where it lies.',
    { code: 'usage' },
  )
}

/** The configuration as it was, with what is said anew. */
function configWith(cli: Cli, options: Options, { config }: Machine): MachineConfig {
  const given = options.address ?? (cli.variables.HOOKS_ADDRESS || config?.address)
  // The collector prints its whole address, and the stack the begin of it.
  const address = given?.replace(/\/v1\/hook-events\/?$/, '')
  const token = options.tokenFile === undefined ? config?.token : tokenIn(options.tokenFile)
  if (!address) throw usage('Say where the collector answers: --address <url> or HOOKS_ADDRESS.')
  if (!token) throw usage('Name a file with the token of the collector: --token-file <file>.')
  checkAddress(address)
  const agentVersion = options.agentVersion ?? config?.agentVersion
  const timeoutSeconds = options.timeout ?? config?.timeoutSeconds ?? 10
  return {
    address,
    token,
    timeoutSeconds,
    ...(agentVersion === undefined ? {} : { agentVersion: agentVersion.slice(0, 100) }),
  }
}

/** A token over plain HTTP can be read on its way, so that is for this machine alone. */
function checkAddress(address: string): void {
  const url = URL.canParse(address) ? new URL(address) : null
  const isHere = url !== null && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (isPlain && (url.protocol === 'https:' || (isHere && url.protocol === 'http:'))) return
  throw usage(
    'The address of the collector must be https://..., without user, query or fragment. (http:// is for this machine.)',
  )
}

function tokenIn(file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw usage(`The token file ${file} can't be read: ${messageOf(error)}`)
  }
  if (/^[\x21-\x7e]{16,4096}$/.test(text)) return text
  throw usage(`The token file ${file} must hold the token alone: 16 or more characters, without spaces.`)
}

function usage(message: string) {
  return new FatalError(message, { code: 'usage' })
}

/** That our own folder can't be written is nothing that a stack explains. */
function atFolder<T>(folder: string, write: () => T): T {
  try {
    return write()
  } catch (cause) {
    if (cause instanceof FatalError) throw cause
    throw new FatalError(`${folder} or the settings file can't be written: ${messageOf(cause)}`, {
      code: 'usage',
      cause,
    })
  }
}

/** Shows what a change would do to a settings file. */
export function sayChange(io: Output, { settings, before, after }: SettingsChange): void {
  if (before === after) {
    io.say(`${settings} would stay as it is.`)
    return
  }
  io.say(`--- ${settings}`)
  io.say(after === null ? '(would be removed: there was no such file before)' : `+++ ${settings}, not written`)
  for (const line of changedLines(before ?? '', after ?? '')) {
    io.say(io.style(line.startsWith('+') ? 'green' : 'red', line))
  }
}
