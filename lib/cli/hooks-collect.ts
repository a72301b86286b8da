import type { Command } from 'commander'
import { composeCollect } from '../compose/hooks-collect.ts'
import { composeStoreHooks } from '../compose/hooks-store.ts'
import { FatalError } from '../core/errors.ts'
import { action, type Cli, type CommonOptions, untilInterrupted, wholeNumber, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { Output } from './output.ts'

type Options = { port?: number }

/** Adds the command `platform-sync hooks collect`. */
export function addHooksCollect(hooks: Command, cli: Cli): void {
  withLocal(hooks.command('collect'))
    .description('collect hook events into the folder of --local, until Ctrl-C')
    .option('--port <port>', 'its port (default: a free one)', wholeNumber({ min: 0, max: 65_535 }))
    .action(action<Options, []>(cli, (io, options) => collect(cli, io, options)))
}

async function collect(cli: Cli, io: Output, { port = 0, ...options }: Options & CommonOptions): Promise<ExitCode> {
  if (options.local === undefined) {
    const message = 'On AWS the stack collects hook events (hooks.enabled in config.ts). Here, add --local.'
    throw new FatalError(message, { code: 'usage' })
  }
  const { withWorkspace } = await import('./workspace.ts')
  const { localHookToken, startLocalCollector } = await import('../local/hooks-collector.ts')
  return withWorkspace(cli, { io, options, platform: false }, async ({ open, folder, variables, runtime }) => {
    const own = variables.HOOKS_TOKENS ? null : localHookToken(folder ?? '')
    const tokens = own ? { HOOKS_TOKENS: own.token } : {}
    const root = open((given, runtime) => composeCollect({ ...given, ...tokens }, runtime))
    const store = open(composeStoreHooks)
    const collector = await startLocalCollector({ collect: root, store, log: runtime.log, port })
    try {
      io.result({ url: collector.url, tokenFile: own?.file ?? null })
      io.say(`Hook events are collected at ${collector.url}. Ctrl-C stops it, and stores what has come.
The token of machines is ${own ? `in ${own.file}` : 'the one in HOOKS_TOKENS'}.
Then "platform-sync sync hook_events --local ${folder}" brings them to the lake.`)
      await untilInterrupted(cli)
    } finally {
      await collector.close()
    }
    return exitCodes.complete
  })
}
