import type { PartFile } from '../../sync/checkpoint.ts'
import { commit, type Draft } from './commit.ts'
import type { DataFile, ManifestEntry } from './manifests.ts'
import { currentSnapshot } from './metadata.ts'
import { addressesOf, currentOf } from './places.ts'
import type { FileSize } from './ports.ts'
import { batchBegin, sameFiles } from './progress.ts'
import type { PublishedScans } from './publications.ts'
import { rewrite } from './rewrite.ts'
import { addedEntry, liveEntries, manifestsOf, summaryOf, type Writing, writeManifest } from './snapshots.ts'
import { filesOfTable, missing, originOf, type TableUpdate } from './update.ts'

/** Publications are taken over together while so many groups of rows are in memory: of each file one is, full or not. */
const groupsAtOnce = 8

/**
 * Takes publications over into a current table, as one snapshot. Where that takes several attempts, they are those that
 * were there at the first, and what came meanwhile is one more. What is in the table already is left alone.
 */
export async function bringUpToDate(update: TableUpdate): Promise<void> {
  const { table, signal, anew = false, isInCurrentForm, progress, deps } = update
  for (let isMore = true; isMore; await progress.clear()) {
    const replaced: string[] = []
    await commit(
      currentOf(table),
      async ({ isNew, ...base }) => {
        const all = await missing(update, { ...base, isNew })
        const inCurrentForm = all.every(({ files }) => files.every(isInCurrentForm))
        const publications = await progress.open(all, { ...base, table, inCurrentForm })
        isMore = publications.length < all.length
        const entries = await liveEntriesOf(base, update)
        const before = entries.map(({ file }) => file)
        const after = await takeOver(before, publications, { ...base, update, replaced })
        const fresh = after.filter((file) => !before.includes(file))
        const removed = before.filter((file) => !after.includes(file))
        if (fresh.length === 0 && removed.length === 0) return null
        const manifest = await writeManifest('m0', entriesOf({ entries, fresh, removed }, base), { ...base, deps })
        const summary = summaryOf({ added: fresh, removed }, originOf(publications), base.metadata)
        return { manifests: [manifest], summary } satisfies Draft
      },
      { signal, anew, deps },
    )
    await deps.files.remove(replaced)
  }
}

async function liveEntriesOf({ metadata }: Writing, { deps }: TableUpdate): Promise<ManifestEntry[]> {
  const entries: ManifestEntry[] = []
  for (const manifest of await manifestsOf(currentSnapshot(metadata), deps)) {
    entries.push(...(await liveEntries(manifest, deps)))
  }
  return entries
}

type Changed = { entries: readonly ManifestEntry[]; fresh: readonly DataFile[]; removed: readonly DataFile[] }

/** One manifest for the whole table: it has few files. */
function entriesOf({ entries, fresh, removed }: Changed, { attempt }: Writing): ManifestEntry[] {
  const old = entries.map((entry): ManifestEntry => {
    if (!removed.includes(entry.file)) return { ...entry, status: 'existing' }
    return { ...entry, status: 'deleted', snapshotId: attempt.commit.snapshotId }
  })
  return [...old, ...fresh.map((file) => addedEntry(file, attempt))]
}

type TakingOver = Writing & {
  update: TableUpdate
  /** Takes the keys of files that the last batch replaces: they go when the snapshot is there. */
  replaced: string[]
}

/**
 * Takes over publications, in the order they were made, in batches that fit into memory. Files of a batch that the next one
 * replaces are removed, once nobody would go on with them.
 */
async function takeOver(
  before: readonly DataFile[],
  publications: readonly PublishedScans[],
  { update, attempt, replaced }: TakingOver,
): Promise<readonly DataFile[]> {
  const { deps, table, stream, progress } = update
  const { keyOf } = addressesOf(deps.address)
  const [main] = stream.tables
  const batches = batchesOf(publications, deps.fileSize)
  let files = sameFiles(progress.state.begun ?? before, before)
  for (const [at, batch] of batches.entries()) {
    if (at < progress.state.batch) continue
    const { kept, added, removed } = await rewrite(files, {
      ...update,
      main,
      mainFiles: filesOfTable(batch, main),
      changes: filesOfTable(batch, table),
      attempt: { ...attempt, dataKey: (file: number) => attempt.dataKey(at * 100_000 + file) },
    })
    files = [...kept, ...added]
    const gone = removed.filter((file) => !before.includes(file)).map(({ path }) => keyOf(path))
    if (at === batches.length - 1) replaced.push(...gone)
    else {
      await progress.advance({ batch: at + 1, begun: [...files], ...batchBegin })
      if (gone.length > 0 && progress.isKept) await progress.keep()
      await deps.files.remove(gone)
    }
    await update.stillMine()
  }
  return files
}

/** Publications stay whole: the rows of a record and those of its parts were published together. */
function batchesOf(publications: readonly PublishedScans[], { groupRows }: FileSize): PartFile[][] {
  const batches: PartFile[][] = []
  let rows = Number.POSITIVE_INFINITY
  for (const { files } of publications) {
    const own = files.reduce((sum, file) => sum + Math.min(file.rows, groupRows), 0)
    const isFull = rows + own > groupsAtOnce * groupRows
    if (isFull) batches.push([])
    rows = isFull ? own : rows + own
    batches.at(-1)?.push(...files)
  }
  return batches
}
