import { resolve } from 'node:path'
import { diskError } from '../core/disk-fault.ts'
import type { Variables } from '../core/env.ts'
import { FatalError, SyncError } from '../core/errors.ts'
import { defaultFolder } from './command.ts'

/**
 * The error as a person is to hear of it: what the disk of this machine refused is no bug, and who forgot `--local` need
 * not set the variables of a stack.
 */
export async function toldError(
  error: unknown,
  {
    args,
    variables,
    folder = resolve(defaultFolder),
  }: { args: readonly string[]; variables: Variables; folder?: string },
): Promise<unknown> {
  if (!(error instanceof SyncError)) return diskError(error, placeIn(error)) ?? error
  if (error.code !== 'configuration' || !(await isForgotten(args, { variables, folder }))) return error
  const message = `${forgottenLocal(folder)}\nTo work with AWS instead:\n${error.message}`
  return new FatalError(message, { code: 'configuration', cause: error })
}

/** The words for who may have meant the folder of `--local`. */
export function forgottenLocal(folder: string): string {
  return `--local was not given, and ${folder} holds what was synced on this machine: add --local to work with that.`
}

/** Whether a command was given without `--local` where there is such a folder, and nothing names a stack. */
export async function isForgotten(
  args: readonly string[],
  { variables, folder = resolve(defaultFolder) }: { variables: Variables; folder?: string },
): Promise<boolean> {
  if (args.some((arg) => arg === '--local' || arg.startsWith('--local='))) return false
  if (ofStacks.some((name) => variables[name])) return false
  const { hasState } = await import('../local/built-in-platform.ts')
  return hasState(folder)
}

const ofStacks = ['STATE_TABLE', 'LAKE_BUCKET', 'LIMITS_TABLE', 'AUDIT_BUCKET', 'INBOX_BUCKET'] as const

function placeIn(error: unknown): string {
  const { path } = error as { path?: unknown }
  return typeof path === 'string' ? path : 'a file of this command'
}
