import { userInfo } from 'node:os'
import { join } from 'node:path'
import { composeLimits, type LimitsApp } from '../compose/limits.ts'
import type { Log } from '../core/log.ts'
import { noMetrics } from '../core/metrics.ts'
import type { LimitsWorker } from '../local/limits-worker.ts'
import type { Cli, CommonOptions } from './command.ts'
import type { Output } from './output.ts'
import { createLog } from './progress.ts'
import type { Session } from './session.ts'

/** The things that a command of credit limits works with. */
export type LimitsWorkspace = {
  session: Pick<Session, 'app' | 'variables' | 'folder'>
  limits: LimitsApp
  log: Log
  /** The folder of saved plans. */
  plans: string
}

/** Opens, works and closes. `platform`: with `--local` the command applies limits itself, and needs the platform for it. */
export async function withLimits<T>(
  cli: Cli,
  { io, options, platform }: { io: Output; options: CommonOptions; platform: boolean },
  work: (opened: LimitsWorkspace) => Promise<T>,
): Promise<T> {
  const { openSession } = await import('./session.ts')
  const log = createLog({ line: io.note }, { verbose: options.verbose === true })
  const asksPlatform = platform && options.local !== undefined
  const session = await openSession(cli, { options, log, platform: asksPlatform, note: io.note })
  try {
    return await withLimitsIn(cli, { session, log }, work)
  } finally {
    await session.close()
  }
}

/** Does the same in a session that is open already. */
export async function withLimitsIn<T>(
  cli: Cli,
  { session, log }: Pick<LimitsWorkspace, 'session' | 'log'>,
  work: (opened: LimitsWorkspace) => Promise<T>,
): Promise<T> {
  const { variables, folder } = session
  const limits = composeLimits(variables, { log, metrics: noMetrics, clock: cli.clock })
  try {
    const plans = variables.LIMITS_PLANS_FOLDER || join(folder ?? '.local', 'plans')
    return await work({ session, limits, log, plans })
  } finally {
    limits.close()
  }
}

/** Works with a worker on this machine beside it when there are emulators; on AWS the function is the worker. */
export async function withWorker<T>(
  { session, limits, log }: LimitsWorkspace,
  work: (worker: LimitsWorker | null) => Promise<T>,
): Promise<T> {
  if (session.folder === null) return await work(null)
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
