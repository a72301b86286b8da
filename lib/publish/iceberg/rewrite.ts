import { type IdentifiedColumn, identifiedColumnsOf } from '../../streams/field-ids.ts'
import { compareCells, orderColumns } from '../../streams/row-order.ts'
import type { Cell } from '../../streams/table.ts'
import { adopt } from './adopt.ts'
import { lookAtChanges } from './coming.ts'
import { createCurrentWriter } from './current-writer.ts'
import { existing } from './inspect.ts'
import type { DataFile } from './manifests.ts'
import { mergedRows, type SortedRows } from './merge-rows.ts'
import { newestVersions } from './newest-versions.ts'
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
 * in the order of the key. Files without either stay as they are.
 */
export async function rewrite(files: readonly DataFile[], rewriting: Rewriting): Promise<Rewritten> {
  const { deps } = rewriting
  const all = placed(files, rewriting)
  const { rows, ofRows, touched } = await lookAtChanges(all, rewriting)
  const mayAdopt = files.length === 0 && rewriting.isCurrentForm && rows === ofRows
  const adopted = mayAdopt ? await adopt(rewriting) : null
  if (adopted) return { kept: [], added: adopted, removed: [] }
  const old = new Set([...touched.certain, ...(await holdingChanged(touched.perhaps, rewriting))])
  if (old.size === 0 && rows === 0) return { kept: [...files], added: [], removed: [] }
  const isAnew = isCrumbled(files, deps.fileSize) ? () => true : (each: PlacedFile) => old.has(each)
  const kept = all.filter((each) => !isAnew(each))
  const anew = all.filter(isAnew)
  const added = await written(anew, kept, rewriting)
  return { kept: kept.map(({ file }) => file), added, removed: anew.map(({ file }) => file) }
}

/** Writes the rows of some files without those of changed records, and those that come in, around the files that are kept. */
async function written(
  anew: readonly PlacedFile[],
  kept: readonly PlacedFile[],
  rewriting: Rewriting,
): Promise<DataFile[]> {
  const { table, mainFiles, attempt, signal, stillMine, deps } = rewriting
  const columns = identifiedColumnsOf(table)
  const versionAt = versionReader(columns)
  const versions = newestVersions(mainFiles, rewriting)
  const output = createCurrentWriter(table, { attempt, signal, deps })
  const ends = kept.map(({ from }) => from)
  const sources = await sourcesOf(anew, columns, rewriting)
  const rows = sources.map((source) => source.rows)
  for await (const places of mergedRows(rows, columns, orderColumns(table))) {
    for (const { group, row, key, source } of places) {
      const asked = versions.seek(key)
      const newest = asked instanceof Promise ? await asked : asked
      const isThere = sources[source]?.isOld ? newest === null : newest && stands(versionAt(group, row), newest.version)
      if (!isThere) continue
      // A file must not reach across one that stays.
      let ended = false
      for (; ends.length > 0 && reaches(key[0] ?? null, ends[0] ?? null); ended = true) ends.shift()
      if (ended || output.bytes >= deps.fileSize.bytes) await output.cut()
      output.take(group, row)
    }
    await stillMine()
  }
  await output.cut()
  return [...output.files]
}

function reaches(cell: Cell, end: Cell): boolean {
  return compareCells(boundOf(cell), end) >= 0
}

type Source = { rows: SortedRows; isOld: boolean }

/** The rows of the table as it is, and those that may come in. */
async function sourcesOf(
  anew: readonly PlacedFile[],
  columns: readonly IdentifiedColumn[],
  { table, changes, look, stillMine, deps }: Rewriting,
): Promise<Source[]> {
  const { keyOf } = addressesOf(deps.address)
  const rowsOf = async function* (chain: readonly PlacedFile[]): AsyncGenerator<RowGroup> {
    for (const { file } of chain) yield* deps.rows.read(await existing(keyOf(file.path), deps), columns)
  }
  const comingIn = await sourcesInOrder(changes, table, { columns, look, stillMine, deps })
  return [
    ...fileChains(anew).map((chain) => ({ rows: rowsOf(chain), isOld: true })),
    ...comingIn.map((rows) => ({ rows, isOld: false })),
  ]
}
