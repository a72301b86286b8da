import { Argument, type Command, type Option } from 'commander'
import { currentName } from '../streams/current.ts'
import { streams } from '../streams/index.ts'
import { tablesOf } from '../streams/stream.ts'
import type { Cli } from './command.ts'
import { type Shell, scripts, shells } from './completion-scripts.ts'

/** Something that may stand where the cursor is, and what it means. */
export type Completion = { value: string; meaning: string }

/** `platform-sync completion <shell>`, and the hidden command that the scripts of the shells ask. */
export function addCompletion(program: Command, cli: Cli): void {
  program
    .command('completion')
    .description('print a script that completes commands, options, streams and tables in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: Shell) => void cli.stdout.write(scripts[shell]))
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .action((words: string[]) => {
      const lines = completionsOf(program, words).map(({ value, meaning }) => `${value}\t${meaning}\n`)
      cli.stdout.write(lines.join(''))
    })
}

/** What may stand in the place of the last word of a command line; nothing where only its user knows, such as a file. */
export function completionsOf(program: Command, words: readonly string[]): Completion[] {
  const last = words.at(-1) ?? ''
  const { command, pending, position } = placeOf(program, words.slice(0, -1))
  return candidatesAt(command, { last, pending, position }).filter(({ value }) => value.startsWith(last))
}

type Place = { command: Command; pending: Option | null; position: number }

/** The command that a line is in, the option that waits for its value, and how many arguments stand before. */
function placeOf(program: Command, words: readonly string[]): Place {
  let place: Place = { command: program, pending: null, position: 0 }
  for (const word of words) place = after(word, place)
  return place
}

function after(word: string, { command, pending, position }: Place): Place {
  if (pending !== null) return { command, pending: null, position }
  if (word.startsWith('-')) {
    const option = command.options.find(({ long, short }) => word === long || word === short)
    return { command, pending: option?.required ? option : null, position }
  }
  const inner = command.commands.find((one) => one.name() === word)
  return inner ? { command: inner, pending: null, position: 0 } : { command, pending: null, position: position + 1 }
}

function candidatesAt(
  command: Command,
  { last, pending, position }: Omit<Place, 'command'> & { last: string },
): Completion[] {
  if (pending !== null) return valuesOf(pending.name(), pending.argChoices)
  if (last.startsWith('-')) {
    return command
      .createHelp()
      .visibleOptions(command)
      .flatMap(({ long, description }) => {
        return long ? [{ value: long, meaning: description }] : []
      })
  }
  const inner = command.createHelp().visibleCommands(command)
  if (inner.length > 0) return inner.map((one) => ({ value: one.name(), meaning: one.description() }))
  const all = command.registeredArguments
  const argument = all[Math.min(position, all.length - 1)]
  if (!argument || (position >= all.length && !argument.variadic)) return []
  return valuesOf(argument.name(), argument.argChoices)
}

/** The values of an option or an argument: its choices, or what its name says it names. */
function valuesOf(name: string, choices: readonly string[] | undefined): Completion[] {
  if (choices) return choices.map((value) => ({ value, meaning: '' }))
  if (name === 'stream') return streams.map(({ name: value, doc: meaning }) => ({ value, meaning }))
  if (name !== 'table' && name !== 'columns') return []
  const tables = streams.flatMap((stream) => tablesOf(stream))
  const current = name === 'columns' ? tables.map((table) => ({ value: currentName(table), meaning: table.doc })) : []
  return [...tables.map(({ name: value, doc: meaning }) => ({ value, meaning })), ...current]
}
