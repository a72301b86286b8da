import type { Command } from 'commander'
import type { Cli } from './command.ts'
import { addHooksCollect } from './hooks-collect.ts'
import { addHooksFlush } from './hooks-flush.ts'
import { addHooksInstall } from './hooks-install.ts'
import { addHooksStatus } from './hooks-status.ts'
import { addHooksUninstall } from './hooks-uninstall.ts'

/** `platform-sync hooks ...` */
export function addHooks(program: Command, cli: Cli): void {
  const hooks = program.command('hooks').description("bring the events of people's machines into the feed")
  addHooksInstall(hooks, cli)
  addHooksUninstall(hooks, cli)
  addHooksStatus(hooks, cli)
  addHooksFlush(hooks, cli)
  addHooksCollect(hooks, cli)
}
