import type { Command } from 'commander'
import { streamNamed, streams } from '../streams/index.ts'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { number, type Output } from './output.ts'

/** `platform-sync approve <stream>` */
export function addApprove(program: Command, cli: Cli): void {
  withLocal(program.command('approve'))
    .description('accept the deletes that a suspect scan withheld, and publish them')
    .argument('<stream>', 'the stream whose deletes are right')
    .action(action<unknown, [string]>(cli, (io, options, name) => approve(cli, io, { ...options, name })))
}

async function approve(cli: Cli, io: Output, options: CommonOptions & { name: string }): Promise<ExitCode> {
  const stream = streamNamed(options.name)
  const { withWorkspace } = await import('./workspace.ts')
  const { composeApproval } = await import('../compose/run.ts')
  const { runAt } = await import('./run-sync.ts')
  const { approveDeletes } = await import('../sync/approve.ts')
  const { finishRun } = await import('../publish/finish-run.ts')
  return withWorkspace(cli, { io, options, platform: false }, async (workspace) => {
    const { approvalDeps, finishDeps } = workspace.open(composeApproval)
    const run = runAt(cli.clock.now())
    const result = await approveDeletes(stream, run, approvalDeps)
    const { record } = await finishRun(run, { streams, results: [result] }, finishDeps())
    const deleted = result.counts?.deleted ?? 0
    if (result.status === 'complete')
      io.say(`${stream.name}: ${number(deleted)} records are deleted, and published in run ${run.runId}.`)
    else io.say(`${stream.name}: nothing was approved, ${result.reason}.`)
    io.result({ stream: stream.name, runId: run.runId, status: result.status, reason: result.reason, deleted })
    return record.status === 'complete' ? exitCodes.complete : exitCodes.failed
  })
}
