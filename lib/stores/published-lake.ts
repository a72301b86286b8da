import type { Manifests } from '../publish/ports.ts'
import { createFileLists, type FileLists, readManifest } from './file-lists.ts'
import { manifestKey } from './lake-paths.ts'
import type { ObjectStore } from './objects.ts'

/** What is published of the lake. Who reads it goes without the code that publishes. */
export type PublishedLake = FileLists & Pick<Manifests, 'readManifest'>

/** What is published of the lake in S3. */
export function createPublishedLake(objects: ObjectStore): PublishedLake {
  return { ...createFileLists(objects), readManifest: (runId) => readManifest(objects, manifestKey(runId)) }
}
