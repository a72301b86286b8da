import type { Manifests, Merger } from '../publish/ports.ts'
import type { Lake } from '../sync/ports.ts'
import { createLake } from './lake.ts'
import { latestManifestKey, manifestKey } from './lake-paths.ts'
import { createLeftovers } from './leftovers.ts'
import { createMerger } from './merge-parts.ts'
import { createQuarantineMerger } from './merge-quarantine.ts'
import type { ObjectStore } from './objects.ts'
import { createPublishedLake, type PublishedLake } from './published-lake.ts'

/** The lake for those who publish. A sync, which does not, goes without the code for it. */
export type PublishingLake = Lake & Manifests & Merger & PublishedLake

/** The lake in S3, as it is published. */
export function createPublishingLake(objects: ObjectStore): PublishingLake {
  const writeJson = (key: string, value: unknown, signal: AbortSignal) =>
    objects.put(key, Buffer.from(JSON.stringify(value)), { signal, contentType: 'application/json' })
  const published = createPublishedLake(objects)
  return {
    ...createLake(objects),
    ...createMerger(objects),
    ...createQuarantineMerger(objects),
    ...published,
    ...createLeftovers(objects, published),
    writeManifest: (manifest, signal) => writeJson(manifestKey(manifest.runId), manifest, signal),
    pointLatest: (manifest, signal) => writeJson(latestManifestKey, manifest, signal),
  }
}
