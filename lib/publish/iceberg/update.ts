import type { Deadline } from '../../core/deadline.ts'
import type { Stream } from '../../streams/stream.ts'
import type { Table } from '../../streams/table.ts'
import type { PartFile } from '../../sync/checkpoint.ts'
import type { Inspected } from './inspect.ts'
import type { TableMetadata } from './metadata.ts'
import type { IcebergDeps } from './ports.ts'
import type { ProgressKeeper } from './progress.ts'
import type { PublishedScans } from './publications.ts'
import { committedScans, type Origin } from './snapshots.ts'

/** What one table is to take over. */
export type TableUpdate = {
  stream: Stream
  table: Table
  /** The publications that the table may lack, oldest first: where it is new, all that there are. */
  publications: (isNew: boolean) => Promise<readonly PublishedScans[]>
  /** Whether a file is in the form that this version writes: those of an earlier one may lack columns. */
  isInCurrentForm: (file: PartFile) => boolean
  /** Makes the table anew, of all that was published. */
  anew?: boolean
  /** Looks at a file of one of the stream's tables. */
  look: (file: PartFile) => Promise<Inspected>
  signal: AbortSignal
  /** Renews the right to write; throws when it is lost, or when the time is up. */
  stillMine: () => Promise<void>
  deadline: Deadline
  progress: ProgressKeeper
  deps: IcebergDeps
}

/** The publications that a table lacks. Whatever it took over last, it had all before. */
export async function missing(
  { publications }: TableUpdate,
  { metadata, isNew }: { metadata: TableMetadata; isNew: boolean },
): Promise<readonly PublishedScans[]> {
  const known = committedScans(metadata)
  const all = await publications(isNew)
  // Scans that are published together come into a table together.
  const last = all.findLastIndex(({ scanIds }) => scanIds.some((scanId) => known.has(scanId)))
  return all.slice(last + 1)
}

/** So many scans are named at most: the last ones tell what is in a table. */
const namedScans = 200

/** What a snapshot says of the publications that it takes over. */
export function originOf(publications: readonly PublishedScans[]): Origin {
  const scanIds = publications.flatMap((publication) => publication.scanIds).slice(-namedScans)
  return { runId: publications.at(-1)?.runId ?? '', scanIds }
}

/** The files of a table among those of a publication. */
export function filesOfTable(files: readonly PartFile[], { name }: Pick<Table, 'name'>): PartFile[] {
  return files.filter(({ kind, table }) => kind === 'changes' && table === name)
}
