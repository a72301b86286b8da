import { SyncError } from '../core/errors.ts'
import type { RunRecord } from '../publish/manifest.ts'

/** Exit codes, for scripts: all complete; failed; wrong usage or configuration; partly; stopped by Ctrl-C. */
export const exitCodes = { complete: 0, failed: 1, usage: 2, partly: 3, interrupted: 130 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

const theirsToFix = new Set(['usage', 'configuration', 'approval_not_possible'])

/** The exit code for what a command threw: 2 when the caller has to change what was asked or how it is set up. */
export function exitCodeOf(error: unknown): ExitCode {
  return error instanceof SyncError && theirsToFix.has(error.code) ? exitCodes.usage : exitCodes.failed
}

/** The exit code of a run. One whose streams are complete and whose tables lack something did a part. */
export function exitCodeOfRun({ status, behind = [] }: Pick<RunRecord, 'status' | 'behind'>): ExitCode {
  if (status === 'complete' && behind.length > 0) return exitCodes.partly
  return { complete: exitCodes.complete, partial: exitCodes.partly, failed: exitCodes.failed }[status]
}
