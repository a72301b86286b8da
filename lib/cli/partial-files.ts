import { open } from 'node:fs/promises'
import { type FileMetaData, parquetMetadataAsync } from 'hyparquet'

/** Reads the bytes of an object from one place up to another; null when there is no such object. */
export type RangeReader = (key: string, from: number, to: number) => Promise<Uint8Array | null>

type Wanted = { key: string; size: number; columns: ReadonlySet<string>; path: string; read: RangeReader }
type Range = { from: number; to: number }

/** A footer is read together with what lies before it: most are smaller. */
const tailBytes = 64 * 1024
/** Reading a gap costs less than another request. */
const gapBytes = 64 * 1024

/**
 * Writes a Parquet file to `path` of which only some columns are there. What they need stands where it stands in the whole file,
 * and between is nothing: whoever reads these columns alone can't tell. Answers false when the object is gone, or is another one.
 */
export async function writePartial({ key, size, columns, path, read }: Wanted): Promise<boolean> {
  const tailFrom = Math.max(0, size - tailBytes)
  const tail = await read(key, tailFrom, size)
  if (tail?.byteLength !== size - tailFrom) return false
  const slice = async (from: number, to = size) => {
    const bytes = from >= tailFrom ? tail.subarray(from - tailFrom, to - tailFrom) : await read(key, from, to)
    return new Uint8Array(bytes ?? []).buffer
  }
  const metadata = await parquetMetadataAsync({ byteLength: size, slice }, { initialFetchSize: tail.byteLength })
  const footer = { from: Math.min(tailFrom, size - 8 - metadata.metadata_length), to: size }
  const ranges = joined([{ from: 0, to: 4 }, ...chunksOf(metadata, columns), footer])
  const file = await open(path, 'w')
  try {
    await file.truncate(size)
    for (const { from, to } of ranges) {
      const bytes = new Uint8Array(await slice(from, to))
      if (bytes.byteLength !== to - from) return false
      await file.write(bytes, 0, bytes.byteLength, from)
    }
  } finally {
    await file.close()
  }
  return true
}

function chunksOf({ row_groups }: FileMetaData, wanted: ReadonlySet<string>): Range[] {
  return row_groups.flatMap(({ columns }) =>
    columns.flatMap(({ meta_data: chunk }) => {
      if (!chunk || !wanted.has(chunk.path_in_schema[0] ?? '')) return []
      const from = Number(chunk.dictionary_page_offset ?? chunk.data_page_offset)
      return [{ from, to: from + Number(chunk.total_compressed_size) }]
    }),
  )
}

function joined(ranges: readonly Range[]): Range[] {
  const result: Range[] = []
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (last && from - last.to <= gapBytes) last.to = Math.max(last.to, to)
    else result.push({ from, to })
  }
  return result
}
