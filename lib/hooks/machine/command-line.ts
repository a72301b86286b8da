import type { Place } from './place.ts'
import type { HookEntry, IsOurs } from './settings-edit.ts'

/** Quotes a path for the shell that runs commands of hooks. */
function quoted(path: string, platform: NodeJS.Platform): string {
  if (platform === 'win32') return `"${path}"`
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/**
 * The command line for a shell: with the Node of this process, since another one may stand first on the path. On Windows
 * it is the one on the path: PowerShell takes a program in quotes for a text, and without quotes no shell takes a blank.
 */
export function commandLine(
  { command }: Pick<Place, 'command'>,
  { execPath, platform }: Pick<NodeJS.Process, 'execPath' | 'platform'>,
): string {
  const node = platform === 'win32' ? 'node' : quoted(execPath, platform)
  return `${node} ${quoted(command, platform)}`
}

/** The entry that runs our command. */
export function entryFor(place: Place, timeoutSeconds: number): HookEntry {
  return { type: 'command', command: commandLine(place, process), timeout: timeoutSeconds }
}

/** Tells our entries, whichever Node they run with. */
export function isOursIn(place: Place): IsOurs {
  const end = ` ${quoted(place.command, process.platform)}`
  return (command) => command.endsWith(end)
}
