import type { Command } from 'commander'
import { withAudit } from './audit-workspace.ts'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { Output } from './output.ts'

/** `platform-sync audit restore-head` */
export function addAuditRestoreHead(audit: Command, cli: Cli): void {
  withLocal(audit.command('restore-head'))
    .description('write the head in the state table anew from the stored entries, when it was lost or set back')
    .action(action<unknown, []>(cli, (io, options) => restore(cli, io, options)))
}

async function restore(cli: Cli, io: Output, options: CommonOptions): Promise<ExitCode> {
  const { restoreHead } = await import('../audit/verify/restore-head.ts')
  const { heads, verification } = await withAudit({ cli, io, options }, ({ audit: { store, head } }) =>
    restoreHead(store, head),
  )
  io.say(
    `The head reaches to entry ${heads.entries.sequence}, finding ${heads.findings.sequence}, digest ${heads.digests.sequence}.`,
  )
  const { unsignedEntries } = verification
  if (unsignedEntries > 0) io.say(`${unsignedEntries} entries after the newest digest were taken as they stand.`)
  io.result({ marks: heads, unsignedEntries })
  return exitCodes.complete
}
