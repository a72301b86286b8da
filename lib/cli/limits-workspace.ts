import { userInfo } from 'node:os'
import { join } from 'node:path'
import { composeLimits, type LimitsRoot } from '../compose/limits.ts'
import type { Log } from '../core/log.ts'
import type { LimitsWorker } from '../local/limits-worker.ts'
import type { Cli, CommonOptions } from './command.ts'
import type { Output } from './output.ts'
import { createLog } from './progress.ts'
import type { Workspace } from './workspace.ts'

/** The things that a command of credit limits works with. */
export type LimitsWorkspace = {
  workspace: Omit<Workspace, 'simulator' | 'close'>
  limits: LimitsRoot
  log: Log
  /** The folder of saved plans. */
  plans: string
}

/**
 * Opens, works and closes. `platform`: with `--local` the command applies limits itself, and needs the platform for it.
 * `looks`: it changes nothing, and works beside another process.
 */
export async function withLimits<T>(
  cli: Cli,
  { io, options, platform, looks = false }: { io: Output; options: CommonOptions; platform: boolean; looks?: boolean },
  work: (opened: LimitsWorkspace) => Promise<T>,
): Promise<T> {
  const { openWorkspace } = await import('./workspace.ts')
  const log = createLog({ line: io.note }, { verbose: options.verbose === true, clock: cli.clock })
  const asksPlatform = platform && options.local !== undefined
  const workspace = await openWorkspace(cli, { options, log, platform: asksPlatform, note: io.note, looks })
  try {
    return await withLimitsIn({ workspace, log }, work)
  } finally {
    await workspace.close()
  }
}

/** Does the same in a workspace that is open already. */
export async function withLimitsIn<T>(
  { workspace, log }: Pick<LimitsWorkspace, 'workspace' | 'log'>,
  work: (opened: LimitsWorkspace) => Promise<T>,
): Promise<T> {
  const { variables, runtime, folder } = workspace
  const limits = composeLimits(variables, { ...runtime, log })
  try {
    const plans = variables.LIMITS_PLANS_FOLDER || join(folder ?? '.local', 'plans')
    return await work({ workspace, limits, log, plans })
  } finally {
    limits.close()
  }
}

/** Works with a worker on this machine beside it when there are emulators; on AWS the function is the worker. */
export async function withWorker<T>(
  { workspace, limits, log }: LimitsWorkspace,
  work: (worker: LimitsWorker | null) => Promise<T>,
): Promise<T> {
  if (workspace.folder === null) return await work(null)
  const { startLimitsWorker } = await import('../local/limits-worker.ts')
  const worker = startLimitsWorker(limits, { log })
  try {
    return await work(worker)
  } finally {
    await worker.close()
  }
}

/** The name of whoever asks, for the record: the account on this machine. */
export function accountName(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}
