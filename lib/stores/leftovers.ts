import { mapConcurrently } from '../core/concurrency.ts'
import type { Manifests } from '../publish/ports.ts'
import type { PartFile } from '../sync/checkpoint.ts'
import type { FileLists } from './file-lists.ts'
import { isMerged, orphansOf, scanPartitions } from './lake-paths.ts'
import type { ObjectStore } from './objects.ts'

const listsAtOnce = 8

/**
 * Removes what a publication leaves behind: what attempts at its scans wrote, and what an earlier publisher merged that died,
 * where its version put other parts together. Folders are shared, so that a merged file stays that any publication lists.
 */
export function createLeftovers(
  objects: ObjectStore,
  { readFiles }: Pick<FileLists, 'readFiles'>,
): Pick<Manifests, 'removeLeftovers'> {
  return {
    removeLeftovers: async (scans, stream, { files, signal }) => {
      const folders = new Set(scans.flatMap((scan) => scanPartitions(scan, stream).map(folderOf)))
      const keys = (await mapConcurrently([...folders], listsAtOnce, (folder) => objects.list(folder))).flat()
      const ofAttempts = scans.flatMap((scan) => orphansOf(keys, { scan, stream, files }))
      const orphans = [...ofAttempts, ...(await unlisted(keys.filter(isMerged), files, readFiles))]
      // What whoever took over has merged meanwhile is in no list yet.
      signal.throwIfAborted()
      await objects.remove(orphans)
      return orphans.length
    },
  }
}

function folderOf(prefix: string): string {
  return prefix.replace(/[^/]*$/, '')
}

async function unlisted(
  merged: readonly string[],
  files: readonly PartFile[],
  readFiles: FileLists['readFiles'],
): Promise<string[]> {
  const own = new Set(files.map(({ key }) => key))
  const others = merged.filter((key) => !own.has(key))
  if (others.length === 0) return []
  const listed = new Set((await readFiles()).map(({ key }) => key))
  return others.filter((key) => !listed.has(key))
}
