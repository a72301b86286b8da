import { type IdentifiedColumn, identifiedColumnsOf } from '../../streams/field-ids.ts'
import type { Cell, Table } from '../../streams/table.ts'
import { adopt } from './adopt.ts'
import { type Coming, lookAtChanges } from './coming.ts'
import { compareKeys, existing } from './inspect.ts'
import type { DataFile } from './manifests.ts'
import { mergeRows, type SortedRows } from './merge-rows.ts'
import { addressesOf } from './places.ts'
import type { FileSize, RowGroup } from './ports.ts'
import type { Rewriting } from './rewriting.ts'
import { createRollingFile } from './rolling-file.ts'
import { type PlacedFile, placed, sortedCells, touchedFiles } from './touched-files.ts'
import { boundOf, compareCells } from './values.ts'
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
  const { table, versions, recordKey, attempt, signal, deps } = rewriting
  const coming = await lookAtChanges(rewriting)
  const adopted = files.length === 0 && rewriting.isCurrentForm ? await adopt(coming.files, rewriting) : null
  if (adopted) return { kept: [], added: adopted, removed: [] }
  const changed = sortedCells([...versions.keys()].map((key) => firstCellOf(key, recordKey)))
  const all = placed(files, rewriting)
  const touched = await touchedFiles(all, { changed, coming: coming.keys }, rewriting)
  if (touched.size === 0 && coming.keys.length === 0) return { kept: [...files], added: [], removed: [] }
  const crumbled = isCrumbled(files, deps.fileSize)
  const anew = (each: PlacedFile) => crumbled || touched.has(each)
  const output = createRollingFile(table, { attempt, signal, deps })
  const columns = identifiedColumnsOf(table)
  const kept = all.filter((each) => !anew(each))
  const ends = kept.map(({ from }) => from)
  const first = columns.findIndex(({ name }) => name === table.key[0])
  await mergeRows(sourcesOf({ old: all.filter(anew), coming }, columns, rewriting), columns, {
    key: table.key,
    take: (group, row) => {
      let ended = false
      // A file must not reach across one that stays.
      for (const cell = group[first]?.[row] ?? null; ends.length > 0 && reaches(cell, ends[0] ?? null); ended = true) {
        ends.shift()
      }
      return ended ? output.cut().then(() => output.take(group, row)) : output.take(group, row)
    },
  })
  await output.cut()
  return {
    kept: kept.map(({ file }) => file),
    added: output.written(),
    removed: all.filter(anew).map(({ file }) => file),
  }
}

function reaches(cell: Cell, end: Cell): boolean {
  return compareCells(boundOf(cell), end) >= 0
}

function firstCellOf(key: Cell, recordKey: readonly string[]): Cell {
  return recordKey.length === 1 ? key : ((JSON.parse(String(key)) as Cell[])[0] ?? null)
}

function sourcesOf(
  { old, coming }: { old: readonly PlacedFile[]; coming: Coming },
  columns: readonly IdentifiedColumn[],
  { table, recordKey, versions, deps }: Rewriting,
): SortedRows[] {
  const { keyOf } = addressesOf(deps.address)
  const read = async function* (keys: readonly string[]): AsyncGenerator<RowGroup> {
    for (const key of keys) yield* deps.rows.read(await existing(key, deps), columns)
  }
  const unchanged = (group: RowGroup) => {
    const { keyAt } = versionReader(group, columns, recordKey)
    return (row: number) => !versions.has(keyAt(row))
  }
  const standing = (group: RowGroup) => {
    const { keyAt, versionAt } = versionReader(group, columns, recordKey)
    return (row: number) => stands(versions, keyAt(row), versionAt(row))
  }
  return [
    { groups: read(old.map(({ file }) => keyOf(file.path))), wanted: unchanged },
    ...coming.files.map(({ key, sorted }) => {
      return { groups: sorted ? read([key]) : sortedGroup(read([key]), columns, table), wanted: standing }
    }),
  ]
}

/** The rows of a file that does not go by key, as one group that does: such files are parts of a scan, and small. */
async function* sortedGroup(
  groups: AsyncIterable<RowGroup>,
  columns: readonly IdentifiedColumn[],
  { key }: Pick<Table, 'key'>,
): AsyncGenerator<RowGroup> {
  const all: Cell[][] = columns.map(() => [])
  for await (const group of groups)
    for (const [at, cells] of group.entries()) for (const cell of cells) all[at]?.push(cell)
  const keyAt = key.map((name) => columns.findIndex((column) => column.name === name))
  const keyOf = (row: number) => keyAt.map((at) => all[at]?.[row] ?? null)
  const order = Array.from(all[0] ?? [], (_, row) => row).sort((a, b) => compareKeys(keyOf(a), keyOf(b)))
  yield all.map((cells) => order.map((row) => cells[row] ?? null))
}
