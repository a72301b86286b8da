import { resolve } from 'node:path'
import type { Command } from 'commander'
import { FatalError, messageOf } from '../core/errors.ts'
import { action, type Cli, type CommonOptions, defaultFolder, withLocal } from './command.ts'
import { type Check, checkPlatform, checkStores, checkVariables } from './doctor-checks.ts'
import { checkLocalFolder, type FolderOptions } from './doctor-folder.ts'
import { checkCollector } from './doctor-hooks.ts'
import { checkInstallation } from './doctor-installation.ts'
import { checkMessages } from './doctor-messages.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { type Output, plain } from './output.ts'
import { forgottenLocal, isForgotten } from './told-error.ts'

/** `platform-sync doctor` */
export function addDoctor(program: Command, cli: Cli): void {
  withLocal(program.command('doctor'))
    .description(
      'check configuration, credentials, storage, each endpoint, credit limits and the collector of hook events, and say what to fix and which alarm is red',
    )
    .option(
      '--set-aside',
      'with --local: move a folder whose state is damaged aside, so that the next sync begins anew',
    )
    .action(action<FolderOptions, []>(cli, (io, options) => doctor(cli, io, options)))
}

async function doctor(cli: Cli, io: Output, options: CommonOptions & FolderOptions): Promise<ExitCode> {
  const damaged = await checkLocalFolder(cli, io, options)
  if (damaged !== null) return tell(damaged, io)
  const { composeSync } = await import('../compose/sync.ts')
  const { composeInspect } = await import('../compose/inspect.ts')
  const { composeDoctor } = await import('../compose/doctor.ts')
  const { composeHooksInspection } = await import('../compose/hooks-inspect.ts')
  const { withWorkspace } = await import('./workspace.ts')
  try {
    return await withWorkspace(cli, { io, options, platform: true }, async ({ open, variables }) => {
      const root = open(composeSync)
      const checks = [
        ...checkVariables(variables),
        ...(await checkStores(root)),
        ...(await checkPlatform(root, { variables, fetch: cli.fetch })),
        await checkMessages(root, { lake: open(composeInspect), variables }),
        ...(await checkInstallation(open(composeDoctor))),
        ...(await checkCollector(open(composeHooksInspection), cli.fetch)),
      ]
      return tell(checks, io)
    })
  } catch (error) {
    if (!(error instanceof FatalError) || error.code !== 'configuration') throw error
    const given = options.local === undefined ? [] : ['--local']
    const forgotten = await isForgotten(given, { variables: cli.variables })
    tell(
      [
        ...(forgotten
          ? [{ what: '--local', state: 'warn', detail: forgottenLocal(resolve(defaultFolder)) } as const]
          : []),
        ...checkVariables(cli.variables, { isLocal: options.local !== undefined }),
        { what: 'configuration', state: 'fail', detail: messageOf(error) },
      ],
      io,
    )
    return exitCodes.usage
  }
}

const marks = { ok: ['green', '✓'], warn: ['yellow', '!'], fail: ['red', '✗'], info: ['dim', '·'] } as const

function tell(checks: readonly Check[], io: Output): ExitCode {
  const width = Math.max(...checks.map(({ what }) => what.length))
  for (const { what, state, detail } of checks) {
    const [style, mark] = marks[state]
    io.say(`${io.style(style, mark)} ${what.padEnd(width)}  ${plain(detail)}`)
  }
  const failed = checks.filter(({ state }) => state === 'fail').length
  const warned = checks.filter(({ state }) => state === 'warn').length
  io.say()
  if (failed === 0)
    io.say(warned === 0 ? 'All is well.' : `It works, with ${warned} warning${warned === 1 ? '' : 's'}.`)
  else io.say(`${failed} problem${failed === 1 ? '' : 's'} to fix.`)
  io.result({ ok: failed === 0, checks })
  return failed === 0 ? exitCodes.complete : exitCodes.failed
}
