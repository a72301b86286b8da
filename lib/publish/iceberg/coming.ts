import type { Cell } from '../../streams/table.ts'
import { columnsNamed, existing, watchOrder } from './inspect.ts'
import type { Rewriting } from './rewriting.ts'
import { sortedCells } from './touched-files.ts'
import { stands, versionColumns, versionReader } from './versions.ts'

/** A file with changes: whether its rows go by key, whether all of them stand, and the first cells of its keys at both ends. */
export type ComingFile = { key: string; rows: number; sorted: boolean; stands: boolean; from: Cell; to: Cell }

/** What comes into the table: the first cells of its rows' keys, and the files with changes. */
export type Coming = { keys: Cell[]; files: ComingFile[] }

/** Looks at the files with changes: at their keys and versions alone. */
export async function lookAtChanges({ table, recordKey, versions, changes, deps }: Rewriting): Promise<Coming> {
  const columns = columnsNamed(table, [...new Set([...table.key, ...recordKey, ...versionColumns])])
  const keys = new Set<Cell>()
  const files: ComingFile[] = []
  for (const key of changes) {
    const order = watchOrder(table.key.map((_, at) => at))
    const file: ComingFile = { key, rows: 0, sorted: true, stands: true, from: null, to: null }
    for await (const group of deps.rows.read(await existing(key, deps), columns)) {
      order.add(group)
      const reader = versionReader(group, columns, recordKey)
      const [cells = []] = group
      for (const [row, cell] of cells.entries()) {
        if (stands(versions, reader.keyAt(row), reader.versionAt(row))) keys.add(cell)
        else file.stands = false
      }
      if (file.rows === 0) file.from = cells[0] ?? null
      file.rows += cells.length
      file.to = cells.at(-1) ?? null
    }
    files.push({ ...file, sorted: order.sorted() })
  }
  return { keys: sortedCells(keys), files }
}
