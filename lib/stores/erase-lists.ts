import type { FileChange, PublishedLists } from '../erase/ports.ts'
import { filesOf, type Manifest, PublishedFile } from '../publish/manifest.ts'
import { createFileLists, readManifest } from './file-lists.ts'
import { fileListPrefix, latestManifestKey, runManifestPrefix } from './lake-paths.ts'
import type { ObjectStore } from './objects.ts'

/** The manifests and the lists of published files, where files may become others. */
export function createChangeableLists(objects: ObjectStore): PublishedLists {
  const manifestKeys = async () => [...(await objects.list(runManifestPrefix)), latestManifestKey]
  return {
    readFiles: createFileLists(objects).readFiles,
    manifests: async function* () {
      for (const key of await manifestKeys()) {
        const manifest = await readManifest(objects, key)
        if (manifest) yield manifest
      }
    },
    changeManifests: async (change, signal) => {
      for (const key of await manifestKeys()) {
        const manifest = await readManifest(objects, key)
        const next = manifest && changedManifest(manifest, change)
        if (!next) continue
        await objects.put(key, Buffer.from(JSON.stringify(next)), { signal, contentType: 'application/json' })
      }
    },
    changeLists: async (change, signal) => {
      for (const key of await objects.list(fileListPrefix)) {
        await objects.replace(key, (bytes) => changedList(bytes, change), {
          signal,
          contentType: 'application/x-ndjson',
        })
      }
    },
  }
}

/** Null when it names no such file. */
function changedManifest(manifest: Manifest, change: FileChange): Manifest | null {
  const before = filesOf(manifest)
  if (before.every((file) => change(file) === file)) return null
  const scans = manifest.scans.map((scan) => ({
    ...scan,
    files: scan.files.map((file) => change(file)).filter((file) => file !== null),
  }))
  return { ...manifest, scans }
}

/** A list that names nothing any more is an empty object: it says that there are lists. */
function changedList(bytes: Uint8Array | null, change: FileChange): Uint8Array | null {
  const lines = Buffer.from(bytes ?? [])
    .toString()
    .split('\n')
    .filter((line) => line !== '')
  const before = lines.map((line) => PublishedFile.parse(JSON.parse(line)))
  const after = before.map((file) => change(file))
  if (after.every((file, at) => file === before[at])) return null
  return Buffer.from(after.flatMap((file) => (file === null ? [] : `${JSON.stringify(file)}\n`)).join(''))
}
