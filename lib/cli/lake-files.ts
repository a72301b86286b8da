import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eachConcurrently } from '../core/concurrency.ts'
import { FatalError } from '../core/errors.ts'
import { sha256 } from '../core/hash.ts'
import type { PartFile } from '../sync/checkpoint.ts'
import type { Checkpoints } from '../sync/ports.ts'

/** The published lake, as the warehouse's readers see it. */
export type PublishedLake = {
  lake: { readFiles(): Promise<PartFile[]> }
  objects: { get(key: string): Promise<Uint8Array | null>; list(prefix: string): Promise<string[]> }
  /** Of streams, where their scans are known. */
  checkpoints?: Pick<Checkpoints, 'read'>
}

/** The lake of those who have none yet. */
export const emptyLake: PublishedLake = {
  lake: { readFiles: async () => [] },
  objects: { get: async () => null, list: async () => [] },
}

/** A published file on this machine, and the view that it belongs to. */
export type LocalFile = { name: string; path: string; key: string }

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
  {
    objects,
    folder,
    signal,
  }: { objects: Pick<PublishedLake['objects'], 'get'>; folder: string; signal?: AbortSignal | undefined },
): Promise<LocalFile[]> {
  const done: LocalFile[] = []
  await eachConcurrently(files.entries(), downloadsAtOnce, async ([at, file]) => {
    signal?.throwIfAborted()
    const bytes = await objects.get(file.key)
    // Quarantine has a term, after which the bucket removes it.
    if (bytes === null && file.kind === 'quarantine') return
    const path = join(folder, `${at}`)
    await writeFile(path, intact(file, bytes))
    done.push({ name: nameOf(file), path, key: file.key })
  })
  return done
}

/** The bytes of a file. @throws FatalError `damaged_state` when it is gone, or isn't what its manifest says. */
export function intact(file: PartFile, bytes: Uint8Array | null): Uint8Array {
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
