import { type Stream, tablesOf } from '../streams/stream.ts'
import type { Table } from '../streams/table.ts'
import type { PartFile } from '../sync/checkpoint.ts'
import type { Merged } from './manifest.ts'
import type { Merger } from './ports.ts'

/** The parts in one folder, in the order they were written: of a table, whose partition it is, or of a quarantine. */
type Folder = { name: string; table: Table | 'quarantine'; parts: PartFile[] }

type Merging = {
  lake: Merger
  signal: AbortSignal
  /** All streams whose tables there may be parts of. */
  streams: readonly Stream[]
  /** What an earlier publisher merged of this publication. */
  before: Readonly<Record<string, Merged>>
  /** Takes down what is merged: whatever writes the publisher's state next, a renewal of its lease or its end, brings it along. */
  note(merged: Record<string, Merged>): void
  /** Renews the lease where it is half over; throws when it is lost. */
  stillMine(): Promise<void>
}

/**
 * Makes the parts of scans few files: of each table and of each quarantine one, or as many as its size asks for, however
 * many scans its rows come from. Answers the files of each scan: one that holds rows of several stands with the first of
 * them. One part alone is written anew, too: by its name, a publisher that wakes up late takes it for what an attempt left.
 * Parts of a table that is no longer declared stay as they are.
 */
export async function mergeScans(scans: readonly (readonly PartFile[])[], merging: Merging): Promise<PartFile[][]> {
  const folders = foldersOf(scans.flat(), merging.streams)
  const merged = { ...merging.before }
  for (const folder of folders) await mergeFolder(folder, merged, merging)
  const placed = new Set<string>()
  return scans.map((files) => files.flatMap((file) => filesFor(file, { merged, folders, placed })))
}

function foldersOf(files: readonly PartFile[], streams: readonly Stream[]): Folder[] {
  const tables = new Map(streams.flatMap(tablesOf).map((table) => [table.name, table]))
  const folders = new Map<string, Folder>()
  for (const file of files) {
    const table = file.kind === 'quarantine' ? file.kind : tables.get(file.table)
    if (!table) continue
    const name = folderOf(file)
    const folder = folders.get(name) ?? { name, table, parts: [] }
    folder.parts.push(file)
    folders.set(name, folder)
  }
  return [...folders.values()]
}

async function mergeFolder({ name, table, parts }: Folder, merged: Record<string, Merged>, merging: Merging) {
  const { lake, note, signal, stillMine } = merging
  const lease = { signal, stillMine }
  let done = merged[name] ?? { files: [], parts: 0 }
  while (done.parts < parts.length) {
    const left = parts.slice(done.parts)
    const { files, taken } =
      table === 'quarantine' ? await lake.mergeQuarantine(left, lease) : await lake.mergeParts(table, left, lease)
    done = { files: [...done.files, ...files], parts: done.parts + taken }
    merged[name] = done
    note({ ...merged })
    await stillMine()
  }
}

type Placing = { merged: Readonly<Record<string, Merged>>; folders: readonly Folder[]; placed: Set<string> }

function filesFor(file: PartFile, { merged, folders, placed }: Placing): readonly PartFile[] {
  const name = folderOf(file)
  if (!folders.some((folder) => folder.name === name)) return [file]
  if (placed.has(name)) return []
  placed.add(name)
  return merged[name]?.files ?? []
}

function folderOf({ key }: PartFile): string {
  return key.slice(0, key.lastIndexOf('/'))
}
