import { orderColumns } from '../../streams/row-order.ts'
import type { PartFile } from '../../sync/checkpoint.ts'
import { areApart, columnsNamed, type Inspected } from './inspect.ts'
import { mergedRows } from './merge-rows.ts'
import { newestVersions, recordsOf } from './newest-versions.ts'
import type { Rewriting } from './rewriting.ts'
import { sourcesInOrder } from './rows-in-order.ts'
import { markTouched, type PlacedFile, type Touched } from './touched-files.ts'
import { stands, versionColumns, versionReader } from './versions.ts'

/** What changes do to a current table: how many rows come in, of how many, and which of its files they touch. */
export type Coming = { rows: number; ofRows: number; touched: Touched }

/** Looks at what changed: at keys and versions alone. */
export async function lookAtChanges(files: readonly PlacedFile[], rewriting: Rewriting): Promise<Coming> {
  const { mainFiles, changes, stillMine } = rewriting
  const marks = markTouched(files)
  // A table without files has none that a changed record could be in.
  if (files.length > 0) {
    for await (const records of recordsOf(mainFiles, rewriting)) {
      for (const { key } of records) marks.changed(key[0] ?? null)
      await stillMine()
    }
  }
  let rows = 0
  for await (const key of standingKeys(changes, rewriting)) {
    rows += 1
    marks.comesIn(key)
  }
  return { rows, ofRows: rowsOf(changes), touched: marks.touched() }
}

/**
 * What changes do to a table without files where each record is among them once: all of their rows come in. That is known
 * without reading them. Null where a record may be there more than once, or gone.
 */
export async function allStand({ mainFiles, changes, look, stillMine }: Rewriting): Promise<Coming | null> {
  const looks: Inspected[] = []
  for (const file of mainFiles) {
    looks.push(await look(file))
    await stillMine()
  }
  if (looks.length === 0 || !looks.every(({ single }) => single) || !areApart(looks)) return null
  const rows = rowsOf(changes)
  return { rows, ofRows: rows, touched: { certain: new Set(), perhaps: [] } }
}

function rowsOf(changes: readonly PartFile[]): number {
  return changes.reduce((sum, file) => sum + file.rows, 0)
}

/** The first cells of the keys of rows that come in, in order. */
async function* standingKeys(changes: readonly PartFile[], rewriting: Rewriting) {
  const { table, mainFiles, look, deps, stillMine } = rewriting
  const columns = columnsNamed(table, [...new Set([...table.key, ...versionColumns])])
  const versionAt = versionReader(columns)
  const versions = newestVersions(mainFiles, rewriting)
  const sources = await sourcesInOrder(changes, table, { columns, look, stillMine, deps })
  for await (const places of mergedRows(sources, columns, orderColumns(table))) {
    for (const { group, row, key } of places) {
      const asked = versions.seek(key)
      const newest = asked instanceof Promise ? await asked : asked
      if (newest && stands(versionAt(group, row), newest.version)) yield key[0] ?? null
    }
    await stillMine()
  }
}
