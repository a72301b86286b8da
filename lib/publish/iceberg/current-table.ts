import type { PartFile } from '../../sync/checkpoint.ts'
import { commit, type Draft } from './commit.ts'
import type { DataFile, ManifestEntry } from './manifests.ts'
import { currentSnapshot } from './metadata.ts'
import { addressesOf, currentOf } from './places.ts'
import type { FileSize } from './ports.ts'
import { rewrite } from './rewrite.ts'
import { addedEntry, liveEntries, manifestsOf, summaryOf, type Writing, writeManifest } from './snapshots.ts'
import { filesOfTable, missing, type TableUpdate } from './update.ts'

/** Publications are taken over together while so many rows are in memory: of each file a group of rows is. */
const rowsAtOnce = 200_000

/** Takes a run's scans over into a current table, as one snapshot. What is in the table already is left alone. */
export async function bringUpToDate(update: TableUpdate): Promise<void> {
  const { table, scanIds, runId, signal, anew = false, deps } = update
  await commit(
    currentOf(table),
    async ({ isNew, ...base }) => {
      const publications = await missing(update, { ...base, isNew })
      const entries = await liveEntriesOf(base, update)
      const before = entries.map(({ file }) => file)
      const after = await takeOver(before, publications, { ...base, update })
      const fresh = after.filter((file) => !before.includes(file))
      const removed = before.filter((file) => !after.includes(file))
      if (fresh.length === 0 && removed.length === 0) return null
      const manifest = await writeManifest('m0', entriesOf({ entries, fresh, removed }, base), { ...base, deps })
      const summary = summaryOf({ added: fresh, removed }, { runId, scanIds }, base.metadata)
      return { manifests: [manifest], summary } satisfies Draft
    },
    { signal, anew, deps },
  )
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

/** Takes over publications, in the order they were made, in batches that fit into memory. Files of a batch that the next one replaces are removed. */
async function takeOver(
  before: readonly DataFile[],
  publications: readonly (readonly PartFile[])[],
  { update, attempt }: Writing & { update: TableUpdate },
): Promise<readonly DataFile[]> {
  const { deps, table, stream, files: own } = update
  const { keyOf } = addressesOf(deps.address)
  const [main] = stream.tables
  let files = before
  for (const [at, batch] of batchesOf(publications, deps.fileSize).entries()) {
    const { kept, added, removed } = await rewrite(files, {
      ...update,
      main,
      mainFiles: filesOfTable(batch, main),
      changes: filesOfTable(batch, table),
      isCurrentForm: batch.every((file) => own.includes(file)),
      attempt: { ...attempt, dataKey: (file: number) => attempt.dataKey(at * 100_000 + file) },
    })
    await deps.files.remove(removed.filter((file) => !before.includes(file)).map(({ path }) => keyOf(path)))
    files = [...kept, ...added]
    await update.stillMine()
  }
  return files
}

/** Publications stay whole: the rows of a record and those of its parts were published together. */
function batchesOf(publications: readonly (readonly PartFile[])[], { groupRows }: FileSize): PartFile[][] {
  const batches: PartFile[][] = []
  let rows = Number.POSITIVE_INFINITY
  for (const files of publications) {
    const own = files.reduce((sum, file) => sum + Math.min(file.rows, groupRows), 0)
    const isFull = rows + own > rowsAtOnce
    if (isFull) batches.push([])
    rows = isFull ? own : rows + own
    batches.at(-1)?.push(...files)
  }
  return batches
}
