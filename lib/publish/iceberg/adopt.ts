import { compareCells } from '../../streams/row-order.ts'
import type { PartFile } from '../../sync/checkpoint.ts'
import { groupBytes } from './gather-rows.ts'
import { areApart, goneFile, type Inspected } from './inspect.ts'
import type { DataFile } from './manifests.ts'
import { addressesOf } from './places.ts'
import type { Rewriting } from './rewriting.ts'
import { keyOrderId } from './schema.ts'

/**
 * Takes files with changes, all of whose rows stand, over byte for byte, as copies that belong to the current table: what a
 * first scan published is the current state already, and its rows need no second writing. Null where they can't be: when
 * rows don't go by key, the ranges of two files touch, or a file is too large.
 */
export async function adopt({
  changes,
  look,
  attempt,
  signal,
  stillMine,
  progress,
  deps,
}: Rewriting): Promise<DataFile[] | null> {
  const looks: (PartFile & Inspected)[] = []
  for (const file of changes) {
    looks.push({ ...file, ...(await look(file)) })
    await stillMine()
  }
  const files = looks.toSorted((a, b) => compareCells(a.from, b.from))
  // A file ends with the group of rows that makes it full.
  const most = deps.fileSize.bytes + groupBytes
  if (!files.every(({ sorted, bytes }) => sorted && bytes <= most) || !areApart(files)) return null
  const adopted = [...progress.state.written]
  for (const { key: from, rows, bytes, statistics } of files.slice(adopted.length)) {
    const key = attempt.dataKey(adopted.length)
    if (!(await deps.files.copy(from, key, { signal }))) throw goneFile(from)
    const path = addressesOf(deps.address).addressOf(key)
    adopted.push({ path, rows, bytes, day: null, statistics, sortOrderId: keyOrderId })
    await progress.advance({ written: [...adopted] })
    await stillMine()
  }
  return adopted
}
