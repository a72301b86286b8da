import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Runtime } from '../compose/runtime.ts'
import type { Variables } from '../core/env.ts'
import { FatalError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { noMetrics } from '../core/metrics.ts'
import type { Simulator } from '../local/simulator/simulator.ts'
import { type Cli, type CommonOptions, defaultFolder } from './command.ts'
import type { Output } from './output.ts'
import { createLog } from './progress.ts'

/** Builds what a command works with, from an environment: one of the roots of lib/compose. */
type Compose<T> = (variables: Variables, runtime: Runtime) => T

/** The surroundings that a command works in until it ends. */
export type Workspace = {
  /** The environment as the command sees it. */
  variables: Variables
  /** The part of this process, for whoever builds something from another environment. */
  runtime: Runtime
  /** Builds what the command works with, and closes it with the workspace. @throws FatalError `configuration` */
  open<T extends { close(): void }>(compose: Compose<T>): T
  /** The built-in platform, when it stands in for a real one. */
  simulator: Simulator | null
  /** The folder of `--local`. */
  folder: string | null
  close(): Promise<void>
}

type Wanted = {
  options: CommonOptions
  log: Log
  /** True when the command asks the platform for something; without it the platform need not be configured. */
  platform: boolean
  /** A line for people about where things come from. */
  note: (text: string) => void
  /** True when what is read from the platform will be kept in the folder: then the folder is that platform's. */
  keeps?: boolean
  /** True when the command only looks: then the folder may be another process's, or one that may not be written. */
  looks?: boolean
  /** Lets so many days pass on the built-in platform first. */
  days?: number
}

/**
 * Opens the surroundings of a command: AWS as the environment says, or with `--local` the emulators and, unless PLATFORM_*
 * is set, the built-in platform.
 * @throws FatalError `configuration` or `usage` that says what to set or to change.
 */
export async function openWorkspace(cli: Cli, wanted: Wanted): Promise<Workspace> {
  const folder = folderOf(wanted.options)
  if (wanted.platform) cli.useProxies(cli.variables)
  if (folder !== null) return wanted.looks ? lookLocal(cli, folder, wanted) : openLocal(cli, folder, wanted)
  if (wanted.days) throw new FatalError('Only the built-in platform can skip a day: add --local.', { code: 'usage' })
  const runtime = { log: wanted.log, metrics: noMetrics, clock: cli.clock }
  return workspaceOf({ variables: cli.variables, runtime, simulator: null, folder: null }, [])
}

/** `opened`: how to close what is open already, in the order of opening. */
function workspaceOf(
  surroundings: Pick<Workspace, 'variables' | 'runtime' | 'simulator' | 'folder'>,
  opened: Closing[],
): Workspace {
  const { variables, runtime } = surroundings
  return {
    ...surroundings,
    open: (compose) => {
      const root = compose(variables, runtime)
      opened.push(root.close)
      return root
    },
    close: () => closeAll(opened),
  }
}

type Closing = () => void | Promise<void>

async function closeAll(opened: Closing[]): Promise<void> {
  for (const close of opened.splice(0).reverse()) await close()
}

/** Opens a workspace for as long as the work takes, with a log whose lines are notes. */
export async function withWorkspace<T>(
  cli: Cli,
  { io, log, ...wanted }: Omit<Wanted, 'log' | 'note'> & { io: Output; log?: Log },
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  const notes = log ?? createLog({ line: io.note }, { verbose: wanted.options.verbose === true, clock: cli.clock })
  const workspace = await openWorkspace(cli, { ...wanted, log: notes, note: io.note })
  try {
    return await work(workspace)
  } finally {
    await workspace.close()
  }
}

/** The folder of `--local`; null without the option. */
function folderOf({ local }: CommonOptions): string | null {
  return local === undefined ? null : resolve(local === true ? defaultFolder : local)
}

/** Tells whether `--local` names a folder that keeps nothing yet: those who only look needn't make it, and hear that it is missing. */
export async function isUnused(options: CommonOptions, io: Pick<Output, 'note'>): Promise<boolean> {
  const folder = folderOf(options)
  if (folder === null) return false
  if (!existsSync(folder)) io.note(`${folder} does not exist: nothing was synced into it.`)
  const { hasState } = await import('../local/built-in-platform.ts')
  return !hasState(folder) && (!existsSync(folder) || statSync(folder).isDirectory())
}

async function openLocal(cli: Cli, folder: string, wanted: Wanted): Promise<Workspace> {
  // Loaded only here: on AWS nobody waits for the emulators' code.
  const { startEmulators } = await import('../local/emulators/emulators.ts')
  const { hasState, localRedactionKey, refuseStranger, writeOwner } = await import('../local/built-in-platform.ts')
  const opened: Closing[] = []
  try {
    // Refused before anything is made or changed; what is written waits for the folder's lock.
    if (wanted.platform) await refuseMixing(cli, folder, wanted)
    refuseStranger(folder)
    const isNew = !hasState(folder)
    const emulators = await startEmulators({ dir: folder })
    opened.push(emulators.close)
    if (isNew) writeOwner(folder, 'none')
    const simulator = wanted.platform ? await platformIn(cli, folder, wanted) : null
    if (simulator) opened.push(simulator.close)
    const variables = {
      ...cli.variables,
      ...emulators.environment,
      ...(simulator ? addressesOf(simulator) : {}),
      REDACTION_KEY: cli.variables.REDACTION_KEY || localRedactionKey(folder),
    }
    const runtime = { log: wanted.log, metrics: noMetrics, clock: cli.clock, credentials: emulators.credentials }
    return workspaceOf({ variables, runtime, simulator, folder }, opened)
  } catch (error) {
    await closeAll(opened)
    throw error
  }
}

async function lookLocal(cli: Cli, folder: string, wanted: Wanted): Promise<Workspace> {
  const { lookIntoFolder } = await import('../local/emulators/look.ts')
  const { refuseStranger } = await import('../local/built-in-platform.ts')
  refuseStranger(folder)
  const { environment, credentials, close } = await lookIntoFolder({ dir: folder })
  const runtime = { log: wanted.log, metrics: noMetrics, clock: cli.clock, credentials }
  return workspaceOf({ variables: { ...cli.variables, ...environment }, runtime, simulator: null, folder }, [close])
}

const platformVariables = ['PLATFORM_APP_URL', 'PLATFORM_BASE_URL', 'PLATFORM_API_KEY', 'PLATFORM_SECRET_ID'] as const
function namesPlatform({ variables }: Cli): boolean {
  return platformVariables.some((name) => variables[name])
}

/** Records of two platforms in one state would each look deleted to the other's scans. */
async function refuseMixing(cli: Cli, folder: string, { days }: Wanted): Promise<void> {
  const { ownerOf, readBuiltInPlatform } = await import('../local/built-in-platform.ts')
  const owner = ownerOf(folder)
  if (!namesPlatform(cli)) {
    if (owner === 'other') throw mixed(folder, 'another platform, and PLATFORM_* is not set')
    readBuiltInPlatform(folder)
    return
  }
  if (owner === 'built-in') throw mixed(folder, 'the built-in platform, and PLATFORM_* names another one')
  if (days) throw new FatalError('Only the built-in platform can skip a day.', { code: 'usage' })
}

/** The folder's built-in platform; null when the environment names a real one. */
async function platformIn(cli: Cli, folder: string, { days = 0, keeps, note }: Wanted): Promise<Simulator | null> {
  const { ownerOf, readBuiltInPlatform, startBuiltInPlatform, writeBuiltInPlatform, writeOwner } = await import(
    '../local/built-in-platform.ts'
  )
  if (namesPlatform(cli)) {
    if (keeps && ownerOf(folder) !== 'other') writeOwner(folder, 'other')
    return null
  }
  const platform = readBuiltInPlatform(folder)
  platform.days += days
  const simulator = await startBuiltInPlatform(platform)
  if (keeps) writeBuiltInPlatform(folder, platform)
  const day = platform.days === 0 ? 'on its first day' : `after ${platform.days} day${platform.days === 1 ? '' : 's'}`
  note(`PLATFORM_* is not set: the built-in platform answers, ${day} (${simulator.url}).`)
  return simulator
}

function mixed(folder: string, why: string) {
  return new FatalError(
    `${folder} holds data of ${why}. Keep them apart: name another folder (--local ./other), or change PLATFORM_APP_URL, ` +
      'PLATFORM_BASE_URL and PLATFORM_API_KEY.',
    { code: 'usage' },
  )
}

/** The variables that point at a simulator. */
function addressesOf({ appUrl, baseUrl }: Pick<Simulator, 'appUrl' | 'baseUrl'>): Record<string, string> {
  return {
    PLATFORM_APP_URL: appUrl,
    PLATFORM_BASE_URL: baseUrl,
    PLATFORM_API_KEY: 'sim-key',
  }
}
