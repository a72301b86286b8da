import { existsSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { SavedFiles } from '../erase/ports.ts'

/** Plans of credit limits that were saved on this machine. */
export function createSavedPlans(folder: string): SavedFiles {
  return {
    list: async () => (existsSync(folder) ? (await readdir(folder)).filter((name) => name.endsWith('.json')) : []),
    get: (name) => readFile(join(folder, name)),
    remove: async (names) => {
      for (const name of names) await rm(join(folder, name), { force: true })
    },
  }
}
