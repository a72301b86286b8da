import type { PartFile } from '../../sync/checkpoint.ts'
import { commit, type Draft } from './commit.ts'
import type { DataFile, ManifestFile } from './manifests.ts'
import { currentSnapshot } from './metadata.ts'
import { addressesOf, logOf } from './places.ts'
import type { IcebergDeps } from './ports.ts'
import { keyOrderId } from './schema.ts'
import { addedEntry, liveEntries, manifestsOf, summaryOf, type Writing, writeManifest } from './snapshots.ts'
import { filesOfTable, missing, originOf, type TableUpdate } from './update.ts'

/** A reader opens each manifest of a table: so many at most, and one more for every so many files. */
const manifestsAtMost = 32
const filesPerManifest = 10_000

/**
 * Adds the files of publications to a change log, a snapshot for each; where the log is new, one for all. What is in the
 * table already is left alone.
 */
export async function appendToLog(update: TableUpdate): Promise<void> {
  const { table, signal, anew = false, progress, deps } = update
  for (let isMore = true; isMore; await progress.clear()) {
    await commit(
      logOf(table),
      async ({ isNew, ...base }) => {
        const all = (await missing(update, { ...base, isNew })).filter(
          ({ files }) => filesOfTable(files, table).length > 0,
        )
        isMore = all.length > 1 && !isNew
        if (all.length === 0) return null
        const publications = isNew ? all : all.slice(0, 1)
        await progress.open(publications, { ...base, table, inCurrentForm: true })
        const files = await dataFilesOf(
          filesOfTable(
            publications.flatMap((each) => each.files),
            table,
          ),
          update,
        )
        const entries = files.map((file) => addedEntry(file, base.attempt))
        const manifests = await merged(await manifestsOf(currentSnapshot(base.metadata), deps), { ...base, deps })
        return {
          manifests: [...manifests, await writeManifest('m0', entries, { ...base, deps })],
          summary: summaryOf({ added: files, removed: [] }, originOf(publications), base.metadata),
        } satisfies Draft
      },
      { signal, anew, deps },
    )
  }
}

async function dataFilesOf(
  files: readonly PartFile[],
  { look, stillMine, progress, deps }: TableUpdate,
): Promise<DataFile[]> {
  const { addressOf } = addressesOf(deps.address)
  const known = new Map(progress.state.written.map((file) => [file.path, file]))
  const found: DataFile[] = []
  for (const file of files) {
    const path = addressOf(file.key)
    found.push(known.get(path) ?? (await dataFileOf(file, { path, look })))
    if (!known.has(path)) await progress.advance({ written: [...found] })
    await stillMine()
  }
  return found
}

async function dataFileOf(
  file: PartFile,
  { path, look }: Pick<TableUpdate, 'look'> & { path: string },
): Promise<DataFile> {
  const { statistics, day, sorted } = await look(file)
  const { rows, bytes } = file
  return { path, rows, bytes, day, statistics, sortOrderId: sorted ? keyOrderId : null }
}

/** The manifests so far, in one where they have become many. Those that are full stay as they are. */
async function merged(
  manifests: readonly ManifestFile[],
  writing: Writing & { deps: IcebergDeps },
): Promise<readonly ManifestFile[]> {
  const isFull = (manifest: ManifestFile) =>
    manifest.added_files_count + manifest.existing_files_count >= filesPerManifest
  const small = manifests.filter((manifest) => !isFull(manifest))
  if (small.length < manifestsAtMost) return manifests
  const entries = []
  for (const manifest of small) entries.push(...(await liveEntries(manifest, writing.deps)))
  const kept = entries.map((entry) => ({ ...entry, status: 'existing' as const }))
  return [...manifests.filter(isFull), await writeManifest('merged', kept, writing)]
}
