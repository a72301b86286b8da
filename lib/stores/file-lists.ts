import * as z from 'zod'
import { eachConcurrently, mapConcurrently } from '../core/concurrency.ts'
import { FatalError } from '../core/errors.ts'
import { ofKnownForm } from '../core/form.ts'
import { filesOf, Manifest, PublishedFile } from '../publish/manifest.ts'
import type { Manifests } from '../publish/ports.ts'
import { fileListKey, fileListPrefix, runManifestPrefix } from './lake-paths.ts'
import type { ObjectStore } from './objects.ts'

/** What is published, for readers, and the part of the publisher that tells them. */
export type FileLists = Pick<Manifests, 'addToList'> & {
  /** All files that are published, in no order. */
  readFiles(): Promise<PublishedFile[]>
}

const readsAtOnce = 16

/** The name of the list of what was published before there were lists. It is written once. */
const beforeLists = 'earlier'

/**
 * Lists of published files in a bucket: a line per file, an object per month. A reader needs as many objects as there were
 * months, whereas manifests are as many as runs.
 */
export function createFileLists(objects: ObjectStore): FileLists {
  return {
    addToList: async (publication, signal) => {
      const added = filesOf(publication)
      if ((await objects.list(fileListPrefix)).length === 0) await listEarlier(objects, added, signal)
      const key = fileListKey(publication.publishedAt.slice(0, 7))
      const change = (bytes: Uint8Array | null) => withFiles({ key, bytes }, added)
      await objects.replace(key, change, { signal, contentType })
    },
    readFiles: async () => {
      const keys = await objects.list(fileListPrefix)
      return keys.length > 0 ? readLists(objects, keys) : await readRuns(objects)
    },
  }
}

const contentType = 'application/x-ndjson'

/** Lists what older versions published, and manifests alone know. */
async function listEarlier(objects: ObjectStore, added: readonly PublishedFile[], signal: AbortSignal): Promise<void> {
  const known = new Set(added.map(({ key }) => key))
  const earlier = (await readRuns(objects)).filter(({ key }) => !known.has(key))
  if (earlier.length > 0) await objects.put(fileListKey(beforeLists), linesOf(earlier), { signal, contentType })
}

/** Null when the list has them all. */
function withFiles(list: List, added: readonly PublishedFile[]): Uint8Array | null {
  const known = new Set(filesIn(list).map(({ key }) => key))
  const rest = added.filter(({ key }) => !known.has(key))
  return rest.length === 0 ? null : Buffer.concat([list.bytes ?? new Uint8Array(), linesOf(rest)])
}

function linesOf(files: readonly PublishedFile[]): Buffer {
  return Buffer.from(files.map((file) => `${JSON.stringify(file)}\n`).join(''))
}

type List = { key: string; bytes: Uint8Array | null }

/** The files that a list has; none when it does not exist. @throws FatalError `damaged_state` for one that is not understood. */
function filesIn({ key, bytes }: List): PublishedFile[] {
  // As one text: a list may have tens of thousands of lines.
  const lines = Buffer.from(bytes ?? [])
    .toString()
    .trimEnd()
    .replaceAll('\n', ',')
  try {
    return z.array(PublishedFile).parse(JSON.parse(`[${lines}]`))
  } catch (cause) {
    throw unreadable(`list of published files ${key}`, cause)
  }
}

async function readLists(objects: ObjectStore, keys: readonly string[]): Promise<PublishedFile[]> {
  const lists = await mapConcurrently(keys, readsAtOnce, async (key) => filesIn({ key, bytes: await objects.get(key) }))
  return lists.flat()
}

async function readRuns(objects: ObjectStore): Promise<PublishedFile[]> {
  const keys = (await objects.list(runManifestPrefix)).filter((key) => key.endsWith('.json'))
  const files: PublishedFile[] = []
  await eachConcurrently(keys, readsAtOnce, async (key) => {
    const manifest = await readManifest(objects, key)
    if (manifest) files.push(...filesOf(manifest))
  })
  return files
}

/** The manifest under a key; null when there is none. @throws FatalError `damaged_state` for one that is not understood. */
export async function readManifest(objects: ObjectStore, key: string): Promise<Manifest | null> {
  const bytes = await objects.get(key)
  if (!bytes) return null
  try {
    return Manifest.parse(ofKnownForm(JSON.parse(Buffer.from(bytes).toString()), { what: `manifest ${key}` }))
  } catch (cause) {
    if (cause instanceof FatalError) throw cause
    throw unreadable(`manifest s3://${objects.bucket}/${key}`, cause)
  }
}

function unreadable(what: string, cause: unknown) {
  return new FatalError(`the ${what} can't be read. Restore an earlier version of the object`, {
    code: 'damaged_state',
    cause,
  })
}
