import type { PartFile } from '../../sync/checkpoint.ts'
import { commit, type Draft } from './commit.ts'
import { columnsNamed, existing } from './inspect.ts'
import type { DataFile, ManifestEntry } from './manifests.ts'
import { currentSnapshot } from './metadata.ts'
import { addressesOf, currentOf } from './places.ts'
import { rewrite } from './rewrite.ts'
import type { Rewriting } from './rewriting.ts'
import { addedEntry, liveEntries, manifestsOf, summaryOf, type Writing, writeManifest } from './snapshots.ts'
import { filesOfTable, missing, type TableUpdate } from './update.ts'
import { noteVersions, type RecordKey, type Version, versionColumns, versionReader } from './versions.ts'

/** Publications are taken over together up to so many rows: what changed in them is in memory. */
const rowsAtOnce = 250_000

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
  { update, attempt, signal }: Writing & { update: TableUpdate },
): Promise<readonly DataFile[]> {
  const { deps, table } = update
  const { keyOf } = addressesOf(deps.address)
  let files = before
  for (const [at, batch] of batchesOf(publications).entries()) {
    const numbered = { ...attempt, dataKey: (file: number) => attempt.dataKey(at * 100_000 + file) }
    const changes = await changesIn(batch, update)
    const isCurrentForm = batch.every((file) => update.files.includes(file))
    const rewriting: Rewriting = { table, ...changes, isCurrentForm, attempt: numbered, signal, deps }
    const { kept, added, removed } = await rewrite(files, rewriting)
    await deps.files.remove(removed.filter((file) => !before.includes(file)).map(({ path }) => keyOf(path)))
    files = [...kept, ...added]
    await update.stillMine()
  }
  return files
}

/** Publications stay whole: the rows of a record and those of its parts were published together. */
function batchesOf(publications: readonly (readonly PartFile[])[]): PartFile[][] {
  const batches: PartFile[][] = []
  let rows = Number.POSITIVE_INFINITY
  for (const files of publications) {
    const own = files.reduce((sum, file) => sum + file.rows, 0)
    const isFull = rows + own > rowsAtOnce
    if (isFull) batches.push([])
    rows = isFull ? own : rows + own
    batches.at(-1)?.push(...files)
  }
  return batches
}

/** What changed: the newest version of each record, and the files of the table with their rows. */
async function changesIn(
  files: readonly PartFile[],
  { stream, table, deps, stillMine }: TableUpdate,
): Promise<Pick<Rewriting, 'recordKey' | 'versions' | 'changes'>> {
  const [main] = stream.tables
  const versions = new Map<RecordKey, Version>()
  const columns = columnsNamed(main, [...main.key, ...versionColumns])
  for (const { key } of filesOfTable(files, main)) {
    for await (const group of deps.rows.read(await existing(key, deps), columns)) {
      noteVersions(versions, versionReader(group, columns, main.key), group[0]?.length ?? 0)
    }
    await stillMine()
  }
  const changes = filesOfTable(files, table).map(({ key }) => key)
  return { recordKey: table.key.slice(0, main.key.length), versions, changes }
}
