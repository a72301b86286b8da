import type { ComingFile } from './coming.ts'
import { existing, inspect } from './inspect.ts'
import type { DataFile } from './manifests.ts'
import { addressesOf } from './places.ts'
import type { Rewriting } from './rewriting.ts'
import { keyOrderId } from './schema.ts'
import { compareCells } from './values.ts'

/**
 * Takes files with changes over byte for byte, as copies that belong to the current table: what a first scan published is
 * the current state already, and its rows need no second writing. Null where they can't be: when a row does not stand,
 * rows don't go by key, the ranges of two files touch, or a file is too large.
 */
export async function adopt(coming: readonly ComingFile[], rewriting: Rewriting): Promise<DataFile[] | null> {
  const files = coming.toSorted((a, b) => compareCells(a.from, b.from))
  if (!files.every(({ stands, sorted }) => stands && sorted) || !areApart(files)) return null
  const { attempt, signal, deps, table } = rewriting
  const adopted: DataFile[] = []
  for (const file of files) {
    const bytes = await existing(file.key, deps)
    if (bytes.byteLength > deps.fileSize.bytes) return null
    const { statistics } = await inspect(file, table, deps)
    const key = attempt.dataKey(adopted.length)
    await deps.files.put(key, bytes, { signal, contentType: 'application/vnd.apache.parquet' })
    const path = addressesOf(deps.address).addressOf(key)
    adopted.push({ path, rows: file.rows, bytes: bytes.byteLength, day: null, statistics, sortOrderId: keyOrderId })
  }
  return adopted
}

function areApart(files: readonly ComingFile[]): boolean {
  return files.every(({ from }, at) => at === 0 || compareCells(files[at - 1]!.to, from) < 0)
}
