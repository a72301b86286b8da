import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder, and those above it that are missing, with a mode if one is given. Node's own way with `recursive` never
 * ends where the system says of every folder below one that it does not exist, as in /proc.
 * @returns whether it was not there
 * @throws what the file system says
 */
export function makeFolder(path: string, mode?: number): boolean {
  if (isFolder(path)) return false
  const above = dirname(path)
  if (above !== path) makeFolder(above, mode)
  try {
    mkdirSync(path, mode)
    return true
  } catch (error) {
    // Another process may have been faster.
    if (isFolder(path)) return false
    throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
