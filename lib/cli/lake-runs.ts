import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PublishedLake } from './lake-files.ts'

/**
 * Brings files of the table of runs into a folder; answers their paths. No list has their digests: they are written
 * anew with each run.
 */
export async function downloadRuns(
  keys: readonly string[],
  { objects, folder }: { objects: Pick<PublishedLake['objects'], 'get'>; folder: string },
): Promise<string[]> {
  const paths: string[] = []
  // One a month, so that a few years are a few files.
  for (const key of keys) {
    const bytes = await objects.get(key)
    if (bytes === null) continue
    const path = join(folder, `runs-${paths.length}`)
    await writeFile(path, bytes)
    paths.push(path)
  }
  return paths
}
