import type { Stream } from '../../streams/stream.ts'
import type { Table } from '../../streams/table.ts'
import type { PartFile } from '../../sync/checkpoint.ts'
import type { Inspected } from './inspect.ts'
import type { TableMetadata } from './metadata.ts'
import type { IcebergDeps } from './ports.ts'
import { committedScans } from './snapshots.ts'

/** What a run brings to one table. */
export type TableUpdate = {
  stream: Stream
  table: Table
  runId: string
  /** The scans of the stream that this publication makes visible. */
  scanIds: readonly string[]
  /** The files of these scans. */
  files: readonly PartFile[]
  /** The stream's files of all publications before, oldest first: what a table begins with. */
  earlier: () => Promise<readonly (readonly PartFile[])[]>
  /** Makes the table anew, of what was published before alone. */
  anew?: boolean
  /** Looks at a file of one of the stream's tables. */
  look: (file: PartFile) => Promise<Inspected>
  signal: AbortSignal
  /** Renews the right to write; throws when it is lost. */
  stillMine: () => Promise<void>
  deps: IcebergDeps
}

/** The publications that a table lacks, each with its files: this one, and where there was no table all before it. */
export async function missing(
  { scanIds, files, earlier }: TableUpdate,
  { metadata, isNew }: { metadata: TableMetadata; isNew: boolean },
): Promise<readonly (readonly PartFile[])[]> {
  const known = committedScans(metadata)
  // Scans that are published together come into a table together.
  if (scanIds.some((scanId) => known.has(scanId))) return []
  return isNew ? [...(await earlier()), files] : [files]
}

/** The files of a table among those of a publication. */
export function filesOfTable(files: readonly PartFile[], { name }: Pick<Table, 'name'>): PartFile[] {
  return files.filter(({ kind, table }) => kind === 'changes' && table === name)
}
