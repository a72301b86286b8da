import { type IdentifiedColumn, identifiedColumnsOf } from '../../streams/field-ids.ts'
import { compareCells, orderColumns } from '../../streams/row-order.ts'
import type { Cell } from '../../streams/table.ts'
import { adopt } from './adopt.ts'
import { allStand, lookAtChanges } from './coming.ts'
import { createCurrentWriter } from './current-writer.ts'
import { compareKeys, existing } from './inspect.ts'
import type { DataFile } from './manifests.ts'
import { mergedRows, type Place, type SortedRows } from './merge-rows.ts'
import { type Newest, newestVersions } from './newest-versions.ts'
import { addressesOf } from './places.ts'
import type { FileSize, RowGroup } from './ports.ts'
import type { Rewriting } from './rewriting.ts'
import { sourcesInOrder } from './rows-in-order.ts'
import { fileChains, holdingChanged, type PlacedFile, placed } from './touched-files.ts'
import { boundOf } from './values.ts'
import { stands, versionReader } from './versions.ts'

/** A current table's files after a rewrite. */
export type Rewritten = { kept: DataFile[]; added: DataFile[]; removed: DataFile[] }

/** The state in which small files become many: then all are written anew. */
function isCrumbled(files: readonly DataFile[], { bytes }: FileSize): boolean {
  const total = files.reduce((sum, file) => sum + file.bytes, 0)
  return files.length > 8 + (2 * total) / bytes
}

/**
 * Brings a current table's files up to date: rows of changed records go, and those of the versions that stand come in,
 * in the order of the key. Files without either stay as they are. What an earlier attempt decided and wrote is not done
 * again.
 */
export async function rewrite(files: readonly DataFile[], rewriting: Rewriting): Promise<Rewritten> {
  const all = placed(files, rewriting)
  const { adopts, anew, isChanged } = rewriting.progress.state.decided ?? (await decide(all, rewriting))
  const adopted = adopts ? await adopt(rewriting) : null
  if (adopted) return { kept: [], added: adopted, removed: [] }
  if (!isChanged) return { kept: [...files], added: [], removed: [] }
  const paths = new Set(anew)
  const [kept, replaced] = [
    all.filter(({ file }) => !paths.has(file.path)),
    all.filter(({ file }) => paths.has(file.path)),
  ]
  const added = await written(replaced, kept, rewriting)
  return { kept: kept.map(({ file }) => file), added, removed: replaced.map(({ file }) => file) }
}

/** Decides what becomes of each file. */
async function decide(all: readonly PlacedFile[], rewriting: Rewriting) {
  const { progress, deps } = rewriting
  const isFresh = all.length === 0 && progress.state.inCurrentForm
  const { rows, ofRows, touched } = (isFresh && (await allStand(rewriting))) || (await lookAtChanges(all, rewriting))
  const old = new Set([...touched.certain, ...(await holdingChanged(touched.perhaps, rewriting))])
  const files = all.map(({ file }) => file)
  const anew = isCrumbled(files, deps.fileSize) ? all : all.filter((each) => old.has(each))
  const decided = {
    adopts: isFresh && rows === ofRows,
    anew: anew.map(({ file }) => file.path),
    isChanged: old.size > 0 || rows > 0,
  }
  await progress.advance({ decided })
  return decided
}

/** Writes the rows of some files without those of changed records, and those that come in, around the files that are kept. */
async function written(
  anew: readonly PlacedFile[],
  kept: readonly PlacedFile[],
  rewriting: Rewriting,
): Promise<DataFile[]> {
  const { table, stillMine, deadline, progress, deps } = rewriting
  const columns = identifiedColumnsOf(table)
  const isThere = standingRows(columns, rewriting)
  const { after } = progress.state
  const output = createOutput(rewriting)
  const ends = kept.map(({ from }) => from)
  const sources = await sourcesOf(anew, columns, rewriting)
  const rows = sources.map((source) => source.rows)
  for await (const places of mergedRows(rows, columns, orderColumns(table))) {
    for (const place of places) {
      const { group, row, key, source } = place
      if (after && compareKeys(after, key) >= 0) continue
      const asked = isThere(place, sources[source]?.isOld ?? false)
      if (!(asked instanceof Promise ? await asked : asked)) continue
      // A file must not reach across one that stays.
      let ended = false
      for (; ends.length > 0 && reaches(key[0] ?? null, ends[0] ?? null); ended = true) ends.shift()
      if (ended || output.bytes >= deps.fileSize.bytes) {
        await output.cut()
        await stillMine()
      }
      output.take(group, row, key)
    }
    if (deadline.remainingMs() <= 0) await output.cut()
    await stillMine()
  }
  await output.cut()
  return progress.state.written
}

/** Tells whether rows of the merged sources are in the table, asked in their order. It waits for nothing where it can. */
function standingRows(columns: readonly IdentifiedColumn[], rewriting: Rewriting) {
  const { mainFiles, progress } = rewriting
  const versionAt = versionReader(columns)
  const versions = newestVersions(mainFiles, { ...rewriting, after: progress.state.after })
  const isThere = ({ group, row }: Place, isOld: boolean, newest: Newest | null): boolean =>
    isOld ? newest === null : newest !== null && stands(versionAt(group, row), newest.version)
  return (place: Place, isOld: boolean): boolean | Promise<boolean> => {
    const asked = versions.seek(place.key)
    if (asked instanceof Promise) return asked.then((newest) => isThere(place, isOld, newest))
    return isThere(place, isOld, asked)
  }
}

/** Files that are filled with rows one after the other. Each that is whole is taken down, with the key it ends with. */
function createOutput({ table, attempt, signal, progress, deps }: Rewriting) {
  const writer = createCurrentWriter(table, { attempt, signal, deps })
  const before = progress.state.written
  let last = progress.state.after
  return {
    get bytes() {
      return writer.bytes
    },
    take: (group: RowGroup, row: number, key: readonly Cell[]) => {
      last = key.slice(0, table.key.length)
      writer.take(group, row)
    },
    cut: async () => {
      const files = writer.files.length
      await writer.cut()
      if (writer.files.length > files) await progress.advance({ written: [...before, ...writer.files], after: last })
    },
  }
}

function reaches(cell: Cell, end: Cell): boolean {
  return compareCells(boundOf(cell), end) >= 0
}

type Source = { rows: SortedRows; isOld: boolean }

/** The rows of the table as it is, and those that may come in. */
async function sourcesOf(
  anew: readonly PlacedFile[],
  columns: readonly IdentifiedColumn[],
  { table, changes, look, stillMine, progress, deps }: Rewriting,
): Promise<Source[]> {
  const { keyOf } = addressesOf(deps.address)
  const { after } = progress.state
  const isDone = ({ to }: PlacedFile) => after !== null && to !== null && compareCells(to, after[0] ?? null) < 0
  const rowsOf = async function* (chain: readonly PlacedFile[]): AsyncGenerator<RowGroup> {
    for (const { file } of chain) yield* deps.rows.read(await existing(keyOf(file.path), deps), columns)
  }
  const comingIn = await sourcesInOrder(changes, table, { columns, look, stillMine, after, deps })
  return [
    ...fileChains(anew.filter((each) => !isDone(each))).map((chain) => ({ rows: rowsOf(chain), isOld: true })),
    ...comingIn.map((rows) => ({ rows, isOld: false })),
  ]
}
