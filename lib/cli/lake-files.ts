import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eachConcurrently } from '../core/concurrency.ts'
import { FatalError } from '../core/errors.ts'
import { sha256 } from '../core/hash.ts'
import type { CurrentFile, FindCurrentFiles } from '../publish/iceberg/current-files.ts'
import type { PublishedFile } from '../publish/manifest.ts'
import type { PartFile } from '../sync/checkpoint.ts'
import type { Checkpoints } from '../sync/ports.ts'
import { type RangeReader, writePartial } from './partial-files.ts'

/** The published lake, as the warehouse's readers see it. */
export type PublishedLake = {
  lake: { readFiles(): Promise<PublishedFile[]> }
  objects: {
    get(key: string): Promise<Uint8Array | null>
    list(prefix: string): Promise<string[]>
    getRange?: RangeReader
  }
  /** The files of a table's current state; null where it must be made from all that was published. */
  currentFiles?: FindCurrentFiles
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

/** Where objects come from and go to. */
export type Place = {
  objects: Pick<PublishedLake['objects'], 'get'>
  folder: string
  signal?: AbortSignal | undefined
}

const downloadsAtOnce = 8

/**
 * Brings files into a folder.
 * @throws FatalError `damaged_state` when one is gone, or isn't what its manifest says.
 */
export async function download(files: readonly PartFile[], { objects, folder, signal }: Place): Promise<LocalFile[]> {
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

/** Where objects come from, and the columns of them that are needed; null where all are. */
export type CurrentPlace = Omit<Place, 'objects'> & {
  objects: Pick<PublishedLake['objects'], 'get' | 'getRange'>
  columns: ReadonlySet<string> | null
}

/**
 * Brings the files of a current table into a folder, or of each what some columns need.
 * @throws FatalError `damaged_state` when one is gone.
 */
export async function downloadCurrent(
  name: string,
  files: readonly CurrentFile[],
  { objects, folder, signal, columns }: CurrentPlace,
): Promise<LocalFile[]> {
  const done: LocalFile[] = []
  await eachConcurrently(files.entries(), downloadsAtOnce, async ([at, { key, bytes: size }]) => {
    signal?.throwIfAborted()
    const path = join(folder, `${name}-${at}`)
    const { getRange: read } = objects
    const isWritten =
      read && columns
        ? await writePartial({ key, size, columns, path, read })
        : await writeWhole({ key, size, path }, objects)
    if (!isWritten) throw changedMeanwhile(key)
    done.push({ name, path, key })
  })
  return done
}

async function writeWhole(
  { key, size, path }: { key: string; size: number; path: string },
  objects: Pick<PublishedLake['objects'], 'get'>,
): Promise<boolean> {
  const bytes = await objects.get(key)
  if (bytes?.byteLength !== size) return false
  await writeFile(path, bytes)
  return true
}

/** Snapshots are kept for days after they were replaced; an erased person's are not. */
function changedMeanwhile(key: string) {
  return new FatalError(`The object ${key} of a current table was replaced while it was read. Ask again.`, {
    code: 'damaged_state',
  })
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
