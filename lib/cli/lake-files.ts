import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FatalError } from '../core/errors.ts'
import { sha256 } from '../core/hash.ts'
import type { Manifest } from '../publish/manifest.ts'
import type { PartFile } from '../sync/checkpoint.ts'

/** The published lake, as the warehouse's readers see it. */
export type PublishedLake = {
  lake: { readManifests(): Promise<Manifest[]> }
  objects: { get(key: string): Promise<Uint8Array | null> }
}

/** The lake of those who have none yet. */
export const emptyLake: PublishedLake = {
  lake: { readManifests: async () => [] },
  objects: { get: async () => null },
}

/** A published file on this machine, and the view that it belongs to. */
export type LocalFile = { name: string; path: string }

/** The view that shows what is in a file. */
export function nameOf({ kind, table }: PartFile): string {
  return kind === 'quarantine' ? 'quarantine' : table
}

const downloadsAtOnce = 8

/**
 * Brings files into a folder.
 * @throws FatalError `damaged_state` when one is gone, or isn't what its manifest says.
 */
export async function download(
  files: readonly PartFile[],
  { objects, folder, signal }: { objects: PublishedLake['objects']; folder: string; signal?: AbortSignal | undefined },
): Promise<LocalFile[]> {
  const waiting = files.map((file, at) => ({ file, path: join(folder, `${at}`) }))
  const done: LocalFile[] = []
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      signal?.throwIfAborted()
      await writeFile(next.path, await intact(next.file, objects))
      done.push({ name: nameOf(next.file), path: next.path })
    }
  }
  await Promise.all(Array.from({ length: downloadsAtOnce }, work))
  return done
}

async function intact(file: PartFile, objects: PublishedLake['objects']): Promise<Uint8Array> {
  const bytes = await objects.get(file.key)
  if (bytes === null) throw damaged(file, 'is gone')
  if (sha256(bytes) !== file.sha256) throw damaged(file, 'is not what was written: its SHA-256 differs')
  return bytes
}

/** A new sync can't mend it: the history of the table is in this file alone. */
function damaged({ key, table }: PartFile, what: string) {
  return new FatalError(
    `The object ${key} of the lake, which a manifest lists for ${table}, ${what}. Restore an earlier version of the object; ` +
      'where there is none (--local keeps none), sync into another folder or bucket.',
    { code: 'damaged_state' },
  )
}
