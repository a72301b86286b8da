import type { Command } from 'commander'
import { FatalError } from '../core/errors.ts'
import { streamNamed, streams } from '../streams/index.ts'
import { withoutShard } from '../streams/shards.ts'
import type { Stream } from '../streams/stream.ts'
import { action, type Cli, type CommonOptions, wholeNumber, withLocal } from './command.ts'
import { type ExitCode, exitCodeOfRun, exitCodes } from './exit-codes.ts'
import type { Output } from './output.ts'
import { createLog, createProgress } from './progress.ts'
import { runJson, sayRun } from './run-report.ts'

type Options = { skipDays?: number }

/** `platform-sync sync [stream...]` */
export function addSync(program: Command, cli: Cli): void {
  withLocal(program.command('sync'))
    .description('read the platform now, in this process, and publish what is complete')
    .argument('[stream...]', `the streams to read (default: all): ${streams.map(({ name }) => name).join(', ')}`)
    .option(
      '--skip-days <n>',
      'with the built-in platform: let so many days pass first',
      wholeNumber({ min: 1, max: 365 }),
    )
    .action(action<Options, [string[]]>(cli, (io, options, names) => sync(cli, io, { ...options, names })))
}

async function sync(cli: Cli, io: Output, options: Options & CommonOptions & { names: string[] }): Promise<ExitCode> {
  const named = [...new Set(options.names)].map(streamNamed)
  const { composeRun } = await import('../compose/run.ts')
  const { withWorkspace } = await import('./workspace.ts')
  const { runSync } = await import('./run-sync.ts')
  const progress = createProgress({ ...cli, json: io.json })
  const log = createLog(progress, { verbose: options.verbose === true, clock: cli.clock })
  const days = options.skipDays === undefined ? {} : { days: options.skipDays }
  return withWorkspace(cli, { io, log, options, platform: true, keeps: true, ...days }, async ({ open }) => {
    const root = open(composeRun)
    for (const stream of named) refuseDisabled(stream, root)
    const wanted = named.length > 0 ? named : root.streams
    const finished = await runSync(wanted, { root, progress, interrupted: cli.interrupted })
    sayRun(finished, io)
    io.result(runJson(finished))
    return finished.interrupted ? exitCodes.interrupted : exitCodeOfRun(finished.record)
  })
}

/** A stream with a list per parent is many requests: somebody has to say once that it is wanted. */
function refuseDisabled({ name, parent }: Stream, root: { streams: readonly Stream[] }): void {
  const family = withoutShard(name)
  if (!parent || root.streams.some((stream) => stream.name === family)) return
  const message = `${family} is not read unless MESSAGES_ENABLED is true: it takes a request or more per record of ${parent.stream.name}.`
  throw new FatalError(message, { code: 'configuration' })
}
