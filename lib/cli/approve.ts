import type { Command } from 'commander'
import { behindText } from '../publish/behind.ts'
import { streamNamed, streamsAsRead } from '../streams/index.ts'
import { shardsOf } from '../streams/shards.ts'
import type { Stream } from '../streams/stream.ts'
import type { StreamResult, SyncDeps } from '../sync/context.ts'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodeOfRun, exitCodes } from './exit-codes.ts'
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
  const { resultOfShards } = await import('../sync/shard-results.ts')
  const { finishRun } = await import('../publish/finish-run.ts')
  return withWorkspace(cli, { io, options, platform: false }, async (workspace) => {
    const { approvalDeps, finishDeps } = workspace.open(composeApproval)
    const run = runAt(cli.clock.now())
    const results: StreamResult[] = []
    for (const each of await withheldIn(stream, approvalDeps))
      results.push(await approveDeletes(each, run, approvalDeps))
    const result = resultOfShards(stream.name, results)
    const published = streamsAsRead({ messages: stream.parent !== undefined })
    const { record } = await finishRun(run, { streams: published, results: [result] }, finishDeps())
    const deleted = result.counts?.deleted ?? 0
    if (result.status === 'complete')
      io.say(`${stream.name}: ${number(deleted)} records are deleted, and published in run ${run.runId}.`)
    else io.say(`${stream.name}: nothing was approved, ${result.reason}.`)
    for (const table of record.behind ?? []) io.say(behindText(table))
    io.result({ stream: stream.name, runId: run.runId, status: result.status, reason: result.reason, deleted })
    return record.status === 'complete' ? exitCodeOfRun(record) : exitCodes.failed
  })
}

/** Where deletes are withheld: the stream, or those of its shards; all of them, to hear why not, when in none. */
async function withheldIn(stream: Stream, { checkpoints }: SyncDeps): Promise<readonly Stream[]> {
  const shards = shardsOf(stream)
  if (shards.length === 1) return shards
  const withheld: Stream[] = []
  for (const shard of shards) {
    if (((await checkpoints.read(shard.name))?.lastScan?.withheldDeletes ?? 0) > 0) withheld.push(shard)
  }
  return withheld.length > 0 ? withheld : shards.slice(0, 1)
}
