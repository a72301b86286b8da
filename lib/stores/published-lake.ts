import type { Manifests, Merger } from '../publish/ports.ts'
import type { Lake } from '../sync/ports.ts'
import { createFileLists, type FileLists, readManifest } from './file-lists.ts'
import { createLake } from './lake.ts'
import { latestManifestKey, manifestKey } from './lake-paths.ts'
import { createLeftovers } from './leftovers.ts'
import { createMerger } from './merge-parts.ts'
import { createQuarantineMerger } from './merge-quarantine.ts'
import type { ObjectStore } from './objects.ts'

/** The lake for those who publish or read what is published. A sync, which does neither, goes without the code for it. */
export type PublishingLake = Lake & Manifests & Merger & FileLists

/** The lake in S3, with what is published of it. */
export function createPublishedLake(objects: ObjectStore): PublishingLake {
  const writeJson = (key: string, value: unknown, signal: AbortSignal) =>
    objects.put(key, Buffer.from(JSON.stringify(value)), { signal, contentType: 'application/json' })
  const lists = createFileLists(objects)
  return {
    ...createLake(objects),
    ...createMerger(objects),
    ...createQuarantineMerger(objects),
    ...lists,
    ...createLeftovers(objects, lists),
    readManifest: (runId) => readManifest(objects, manifestKey(runId)),
    writeManifest: (manifest, signal) => writeJson(manifestKey(manifest.runId), manifest, signal),
    pointLatest: (manifest, signal) => writeJson(latestManifestKey, manifest, signal),
  }
}
