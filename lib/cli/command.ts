import { type Command, InvalidArgumentError } from 'commander'
import type { Clock } from '../core/clock.ts'
import type { Variables } from '../core/env.ts'
import type { ExitCode } from './exit-codes.ts'
import { createOutput, type Output, type Terminal } from './output.ts'

/** The process that runs a command, as far as the command may touch it. */
export type Cli = {
  variables: Variables
  stdout: Terminal
  stderr: Terminal
  clock: Clock
  /** Requests in which the platform's client has no part. */
  fetch: typeof fetch
  /** Sends requests to the platform through the proxies that the environment names. @throws FatalError `configuration` */
  useProxies(variables: Variables): void
  /** Aborts at the first Ctrl-C. */
  interrupted: AbortSignal
  /** Sets the exit code. */
  exit(code: ExitCode): void
}

/** The folder that `--local` without a folder takes. */
export const defaultFolder = '.local'

/** Options that every command has. */
export type CommonOptions = { json?: boolean; verbose?: boolean; local?: string | true }

/** Gives a command its common options. */
export function withCommon(command: Command): Command {
  return command
    .option('--json', 'one JSON document on stdout instead of words')
    .option('--verbose', 'log everything to stderr, and stacks of errors')
}

/** Gives a command the option to work on this machine alone. */
export function withLocal(command: Command): Command {
  return withCommon(command).option(
    '--local [folder]',
    `use emulators on this machine with their state in the folder (default ${defaultFolder}), and the built-in platform if PLATFORM_* is not set`,
    folderName,
  )
}

function folderName(text: string): string {
  if (text !== '') return text
  throw new InvalidArgumentError('It must name a folder, for example --local ./.local.')
}

/** An action that says how it ended. `Args` are the command's arguments and then its options. */
type Action<O, Args extends unknown[]> = (io: Output, options: O & CommonOptions, ...args: Args) => Promise<ExitCode>

/** Makes what commander calls: with the command's arguments, its options and itself. */
export function action<O, Args extends unknown[]>(cli: Cli, run: Action<O, Args>) {
  return async (...given: unknown[]): Promise<void> => {
    const options = given.at(-2) as O & CommonOptions
    const io = createOutput({ ...cli, json: options.json === true })
    cli.exit(await run(io, options, ...(given.slice(0, -2) as Args)))
  }
}

/** Reads a whole number within bounds. */
export function wholeNumber({ min, max }: { min: number; max: number }) {
  return (text: string): number => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
  }
}

/**
 * `--local` may stand before another argument: only what looks like a path (`./data`, `/data`, `a/b`) is its folder.
 */
export function withFolders(args: readonly string[]): string[] {
  return args.map((arg, at) => (arg === '--local' && !isPath(args[at + 1]) ? `--local=${defaultFolder}` : arg))
}

function isPath(text = ''): boolean {
  return /^(\.|~|\/)/.test(text) || /^[^\s-][^\s]*\/[^\s]*$/.test(text)
}

/** Waits for the first Ctrl-C. */
export function untilInterrupted({ interrupted }: Pick<Cli, 'interrupted'>): Promise<void> {
  return new Promise((resolve) => {
    if (interrupted.aborted) resolve()
    else interrupted.addEventListener('abort', () => resolve(), { once: true })
  })
}
