import { withoutShard } from '../../streams/shards.ts'
import type { Stream } from '../../streams/stream.ts'
import type { Table } from '../../streams/table.ts'
import type { PublishedFile } from '../manifest.ts'
import { currentSnapshot } from './metadata.ts'
import { addressesOf, currentOf, hasCurrent } from './places.ts'
import type { IcebergDeps } from './ports.ts'
import { committedScans, liveEntries, manifestsOf } from './snapshots.ts'

/** A file of a current table. */
export type CurrentFile = { key: string; bytes: number; rows: number }

/** Finds the files of a table's current state; null where it must be made from all that was published. */
export type FindCurrentFiles = (of: {
  stream: Stream
  table: Table
  published: readonly PublishedFile[]
}) => Promise<readonly CurrentFile[] | null>

/**
 * The files of a table's current state; null where there is none that is known to hold all that is published. A publisher that
 * died between the lists and the tables leaves such a moment, until the next one.
 */
export async function currentFiles(
  { stream, table, published }: Parameters<FindCurrentFiles>[0],
  deps: Pick<IcebergDeps, 'files' | 'pointers' | 'address'>,
): Promise<CurrentFile[] | null> {
  if (!hasCurrent(stream, table)) return null
  const found = await deps.pointers.find(currentOf(table).name)
  const { addressOf, keyOf } = addressesOf(deps.address)
  // One that lies elsewhere was made before its folder or bucket was moved.
  if (!found?.metadata.location.startsWith(addressOf(''))) return null
  const known = committedScans(found.metadata)
  const newest = newestScans(stream, published)
  if (newest.length === 0 || !newest.every((scanId) => known.has(scanId))) return null
  const files: CurrentFile[] = []
  for (const manifest of await manifestsOf(currentSnapshot(found.metadata), deps)) {
    for (const { file } of await liveEntries(manifest, deps)) {
      files.push({ key: keyOf(file.path), bytes: file.bytes, rows: file.rows })
    }
  }
  return files
}

/** The scans of a stream, or of its shards, that were published last. */
function newestScans(stream: Pick<Stream, 'name'>, published: readonly PublishedFile[]): string[] {
  const name = withoutShard(stream.name)
  const own = published.filter((file) => withoutShard(file.stream) === name && file.kind === 'changes')
  const times = own.map(({ publishedAt }) => publishedAt)
  const last = times.toSorted().at(-1)
  return [...new Set(own.filter(({ publishedAt }) => publishedAt === last).map(({ scanId }) => scanId))]
}
