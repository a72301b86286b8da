import type { Command } from 'commander'
import { eachConcurrently } from '../core/concurrency.ts'
import { streamNamed } from '../streams/index.ts'
import { shardsOf } from '../streams/shards.ts'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { Output } from './output.ts'

type Options = { index?: boolean }

const resetsAtOnce = 8

/** `platform-sync reset <stream>` */
export function addReset(program: Command, cli: Cli): void {
  withLocal(program.command('reset'))
    .description('forget a scan in progress, so that the next one reads the list from its beginning')
    .argument('<stream>', 'the stream to reset')
    .option('--index', 'forget what is known of its records, too: the next scan writes every record anew')
    .action(action<Options, [string]>(cli, (io, options, name) => reset(cli, io, { ...options, name })))
}

async function reset(cli: Cli, io: Output, options: Options & CommonOptions & { name: string }): Promise<ExitCode> {
  const stream = streamNamed(options.name)
  const { composeInspect } = await import('../compose/inspect.ts')
  const { withWorkspace } = await import('./workspace.ts')
  return withWorkspace(cli, { io, options, platform: false }, async (workspace) => {
    const index = options.index === true
    const { checkpoints } = workspace.open(composeInspect)
    const now = cli.clock.now()
    await eachConcurrently(shardsOf(stream), resetsAtOnce, ({ name }) => checkpoints.reset(name, { index, now }))
    const effect = index ? 'and writes every record again' : 'and compares with what is known'
    io.say(`${stream.name} is reset: the next sync reads its list from the beginning, ${effect}.`)
    io.result({ stream: stream.name, reset: true, index })
    return exitCodes.complete
  })
}
