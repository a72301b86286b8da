import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { FatalError } from '../../core/errors.ts'

/**
 * Takes a folder for this process alone. The lock is the operating system's, by way of SQLite: it ends with the process,
 * however that ends, so that no stale lock file needs cleaning up.
 * @throws FatalError `usage` when another process has it.
 */
export const lockFolder = (dir: string): { release(): void } => {
  const lock = new DatabaseSync(join(dir, 'lock.db'), { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close()
    const message = `another platform-sync uses ${dir} now. Wait until it is done, or stop it, and try again`
    throw new FatalError(message, { code: 'usage', cause })
  }
  return { release: () => lock.close() }
}
