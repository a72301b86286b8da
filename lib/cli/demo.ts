import type { Command } from 'commander'
import type { Cli } from './command.ts'
export const addDemo = (_program: Command, _cli: Cli): void => {}
