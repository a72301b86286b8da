import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { FatalError, messageOf } from '../../core/errors.ts'
import { makeFolder } from '../../core/folders.ts'
import { isOursIn } from './command-line.ts'
import { type MachineConfig, type Place, readJson, writeAtomically } from './place.ts'
import { realPathOf } from './real-path.ts'
import { addEntries, findEntries, type HookEntry, removeEntries } from './settings-edit.ts'

/** What stands in one settings file by our doing, and how to take it out again. */
export type Installation = {
  settings: string
  events: string[]
  at: string
  /** SHA-256 of the file after the installation: while it is that, the backup is what was there before. */
  after: string
  /** The name of the backup; null when there was no file. */
  backup: string | null
}

/** A change of a settings file that is not made yet. Null stands for no file. */
export type SettingsChange = { settings: string; before: string | null; base: string | null; after: string | null }

/** Lists what is recorded as installed. */
export function installationsIn(place: Place): Installation[] {
  const value = readJson(place.installed)
  return Array.isArray(value) ? value : []
}

/** Plans what a settings file will be with our entries. @throws FatalError `usage` when it can't be changed. */
export function planInstall(
  place: Place,
  file: string,
  wanted: { events: string[]; entry: HookEntry },
): SettingsChange {
  const settings = realPathOf(file)
  const before = readSettings(settings)
  const base = baseOf(place, settings, before)
  const present = installedEntries(place, settings, before)
  const isSame =
    present.length === wanted.events.length &&
    wanted.events.every((name) => present.some((each) => each.event === name && isEntry(each, wanted.entry)))
  const edit = (text: string) => addEntries(text, wanted.events, wanted.entry)
  return { settings, before, base, after: isSame ? before : edited(settings, base ?? '{}\n', edit) }
}

/** Plans what a settings file will be without our entries. @throws FatalError `usage` when it can't be changed. */
export function planUninstall(place: Place, file: string): SettingsChange {
  const settings = realPathOf(file)
  const before = readSettings(settings)
  const base = baseOf(place, settings, before)
  return { settings, before, base, after: base }
}

/** Lists the events at which a settings file runs our command. @throws FatalError `usage` when it can't be read. */
export function installedIn(place: Place, { settings }: Pick<Installation, 'settings'>): string[] {
  return installedEntries(place, settings, readSettings(settings)).map(({ event }) => event)
}

function installedEntries(place: Place, settings: string, text: string | null) {
  return text === null ? [] : inFile(settings, () => findEntries(text.replace(/^\ufeff/, ''), isOursIn(place)))
}

function isEntry(found: HookEntry & { event: string }, { type, command, timeout }: HookEntry): boolean {
  return found.type === type && found.command === command && found.timeout === timeout
}

/** The file as it is without us: the backup while nothing else changed it, else the file without our entries. */
function baseOf(place: Place, settings: string, before: string | null): string | null {
  const known = installationsIn(place).find((each) => each.settings === settings)
  if (before === null) return null
  if (known && known.after === hashOf(before)) {
    if (known.backup === null) return null
    const backup = join(place.backups, known.backup)
    if (existsSync(backup)) return readFileSync(backup, 'utf8')
  }
  const base = edited(settings, before, (text) => removeEntries(text, isOursIn(place)))
  return known?.backup === null && base !== before && base.trim() === '{}' ? null : base
}

/** Edits what follows a byte order mark, with which some editors begin a file and which is no JSON. */
function edited(settings: string, text: string, edit: (text: string) => string): string {
  const [mark, bare] = text.startsWith('\ufeff') ? ['\ufeff', text.slice(1)] : ['', text]
  return mark + inFile(settings, () => edit(bare))
}

/** Names the file in what is wrong with its text. */
function inFile<T>(settings: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (!(cause instanceof FatalError)) throw cause
    throw new FatalError(`${settings}: ${cause.message}`, { code: 'usage', cause })
  }
}

/** Puts command, configuration and entries in place, in an order in which the agent never runs what is not there. */
export function install(
  place: Place,
  change: SettingsChange,
  { command, config, events, now }: { command: string; config: MachineConfig; events: string[]; now: number },
): Installation {
  makeFolder(place.folder, 0o700)
  write(place.command, command, 0o700)
  write(place.config, `${JSON.stringify(config, null, 2)}\n`)
  const after = hashOf(change.after ?? '')
  const known = installationsIn(place).find((each) => each.settings === change.settings && each.after === after)
  const installation = known ?? { ...keepBackup(place, change, now), settings: change.settings, events, after }
  const others = installationsIn(place).filter(({ settings }) => settings !== change.settings)
  write(place.installed, `${JSON.stringify([...others, installation], null, 2)}\n`)
  applyChange(change)
  return installation
}

/** Takes the entries out of a settings file and forgets the installation. */
export function uninstall(place: Place, change: SettingsChange): void {
  applyChange(change)
  const others = installationsIn(place).filter(({ settings }) => settings !== change.settings)
  if (existsSync(place.installed)) write(place.installed, `${JSON.stringify(others, null, 2)}\n`)
}

function keepBackup(
  place: Place,
  { settings, base }: SettingsChange,
  now: number,
): { at: string; backup: string | null } {
  const at = new Date(now).toISOString()
  if (base === null) return { at, backup: null }
  makeFolder(place.backups, 0o700)
  const backup = `${at.replaceAll(/[:.]/g, '-')}-${hashOf(settings).slice(0, 8)}-${basename(settings)}`
  write(join(place.backups, backup), base)
  return { at, backup }
}

function write(file: string, text: string, mode = 0o600): void {
  writeAtomically(file, text, { mode, temporary: `${file}.${randomUUID()}.tmp` })
}

/** Replaces the settings file, unless somebody else just did. @throws FatalError `usage` */
function applyChange({ settings, before, after }: SettingsChange): void {
  if (before === after) return
  if (readSettings(settings) !== before) {
    throw new FatalError(`${settings} was changed meanwhile by another program. Run the command again.`, {
      code: 'usage',
    })
  }
  if (after === null) {
    rmSync(settings)
    return
  }
  const mode = statSync(settings, { throwIfNoEntry: false })?.mode ?? 0o600
  const temporary = join(dirname(settings), `.${basename(settings)}.${randomUUID()}.tmp`)
  writeAtomically(settings, after, { mode: mode & 0o7777, temporary })
}

function readSettings(settings: string): string | null {
  if (!existsSync(settings)) return null
  const bytes = bytesOf(settings)
  const text = bytes.toString('utf8')
  if (Buffer.from(text).equals(bytes)) return text
  throw new FatalError(`${settings} is not changed, since it is no text in UTF-8.`, { code: 'usage' })
}

function bytesOf(settings: string): Buffer {
  try {
    return readFileSync(settings)
  } catch (cause) {
    const message = `${settings} can't be read: ${messageOf(cause)}. Is it the settings file of the agent?`
    throw new FatalError(message, { code: 'usage', cause })
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
