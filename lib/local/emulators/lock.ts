import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { diskError, diskFaultOf, isLackOfRights } from '../../core/disk-fault.ts'
import { FatalError, messageOf } from '../../core/errors.ts'
import { makeFolder } from '../../core/folders.ts'

/**
 * Takes a folder for this process alone, and makes it if need be. The lock is the operating system's, by way of SQLite:
 * it ends with the process, however that ends, so that no stale lock file needs cleaning up.
 * @throws FatalError `usage` when another process has it or it can't be a folder, `damaged_state` for a broken lock file.
 */
export function lockFolder(dir: string): { release(): void } {
  makeOurs(dir)
  const file = join(dir, 'lock.db')
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(file, { timeout: 0 })
    lock.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    lock?.close()
    if (isBusy(cause)) {
      const message = `another platform-sync uses ${dir} now. Wait until it is done, or stop it, and try again`
      throw new FatalError(message, { code: 'usage', cause })
    }
    const fault = folderFault(dir, cause)
    if (fault) throw fault
    const message = `${file} can't be locked: ${messageOf(cause)}. It holds nothing that is needed: delete it and try again`
    throw new FatalError(message, { code: 'damaged_state', cause })
  }
  const { close } = lock
  return { release: close.bind(lock) }
}

/** Whether a process has a folder. Asking takes nothing, and needs no right to write. */
export function isLocked(dir: string): boolean {
  const file = join(dir, 'lock.db')
  if (!existsSync(file)) return false
  const lock = new DatabaseSync(file, { readOnly: true, timeout: 0 })
  try {
    lock.prepare('SELECT count(*) FROM sqlite_schema').get()
    return false
  } catch (error) {
    if (isBusy(error)) return true
    // No database at all: nobody can have locked it.
    if ((error as { errcode?: number }).errcode === notADatabase) return false
    throw error
  } finally {
    lock.close()
  }
}

/** SQLITE_NOTADB. */
const notADatabase = 26

/** SQLITE_BUSY: someone else has the lock. */
function isBusy(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === 5
}

/**
 * The error for a folder in which the operating system lets nothing be written, for want of rights or of room; null when
 * that is not what happened. The state is whole then, and nobody should delete it.
 */
export function folderFault(dir: string, cause: unknown): FatalError | null {
  if (!isLackOfRights(diskFaultOf(cause))) return diskError(cause, dir)
  const message =
    `this account may not write in ${dir}: ${messageOf(cause)}. Commands that only look ("status", "query", "limits ` +
    'outcomes" and the like) work all the same; for the rest use the account that owns the folder, or name another folder'
  return new FatalError(message, { code: 'usage', cause })
}

function makeOurs(dir: string): void {
  try {
    makeFolder(dir)
  } catch (cause) {
    const fault = folderFault(dir, cause)
    if (fault) throw fault
    const message = `${dir} can't be used as a folder: ${messageOf(cause)}. Name another one`
    throw new FatalError(message, { code: 'usage', cause })
  }
}
