import { closeSync, fchmodSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { laterForm } from '../../core/form.ts'
import { parsed } from './event.ts'

/** The files of the folder that belongs to the hooks of this machine. All of them are for their owner alone. */
export function placeOf(folder: string) {
  return {
    folder,
    command: join(folder, 'hook.cjs'),
    config: join(folder, 'config.json'),
    spool: join(folder, 'spool'),
    lock: join(folder, 'deliver.lock'),
    state: join(folder, 'state.json'),
    log: join(folder, 'errors.log'),
    lost: join(folder, 'lost'),
    unreadable: join(folder, 'unreadable'),
    installed: join(folder, 'installed.json'),
    backups: join(folder, 'backups'),
  }
}
export type Place = ReturnType<typeof placeOf>

/** What the command needs to know. The token is here and nowhere else. */
export type MachineConfig = { address: string; token: string; timeoutSeconds: number; agentVersion?: string }

/** What is to be said of a folder that a later version installed; null of all others. */
export function laterFolder(place: Place): string | null {
  const goBack = 'move it away and run "hooks install"'
  return laterForm(readJson(place.config), { what: `folder ${place.folder}`, goBack })
}

/** Reads the configuration; null when it is not there, not whole, or of a later version. */
export function readConfig(place: Place): MachineConfig | null {
  if (laterFolder(place) !== null) return null
  const value = readJson(place.config) as Partial<MachineConfig> | null | undefined
  const isWhole =
    typeof value?.address === 'string' && typeof value.token === 'string' && typeof value.timeoutSeconds === 'number'
  return isWhole ? (value as MachineConfig) : null
}

/** Reads a file of JSON; undefined when it is not there, or none. */
export function readJson(file: string): unknown {
  try {
    return parsed(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

/** Replaces a file at once: readers see the old bytes or the new ones, also after a power cut. */
export function writeAtomically(file: string, text: string | Uint8Array, { mode, temporary }: AtomicOptions): void {
  try {
    const descriptor = openSync(temporary, 'wx', mode)
    try {
      // The mask of the process has no say in the mode of a file that replaces another.
      fchmodSync(descriptor, mode)
      writeAll(descriptor, typeof text === 'string' ? Buffer.from(text) : text)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  syncFolder(dirname(file))
}

type AtomicOptions = { mode: number; temporary: string }

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
}

/** Makes a rename last. Some systems can't open a folder: there the rename alone must do. */
function syncFolder(folder: string): void {
  let descriptor: number
  try {
    descriptor = openSync(folder, 'r')
  } catch {
    return
  }
  try {
    fsyncSync(descriptor)
  } catch (error) {
    if (!['EPERM', 'EINVAL', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    closeSync(descriptor)
  }
}
