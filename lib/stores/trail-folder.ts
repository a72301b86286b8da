import { readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TrailStore } from '../audit/trail/ports.ts'
import { makeFolder } from '../core/folders.ts'

/** A trail in a folder: a copy of the bucket, or an evidence pack. Keys are paths below it. */
export function createTrailFolder(dir: string): TrailStore {
  return {
    get: async (key) => {
      try {
        return await readFile(join(dir, key))
      } catch (error) {
        if (isMissing(error)) return null
        throw error
      }
    },
    list: async (prefix) => {
      try {
        const names = await readdir(join(dir, prefix), { recursive: true, withFileTypes: true })
        const base = join(dir, prefix, '/')
        return names
          .filter((name) => !name.isDirectory())
          .map((name) => `${prefix}${join(name.parentPath, name.name).slice(base.length).replaceAll('\\', '/')}`)
          .sort()
      } catch (error) {
        if (isMissing(error)) return []
        throw error
      }
    },
    put: async (key, bytes) => {
      makeFolder(dirname(join(dir, key)))
      await writeFile(join(dir, key), bytes)
    },
  }
}

function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
}
