import type { Stream } from '../../streams/stream.ts'
import type { Table } from '../../streams/table.ts'
import type { Manifest } from '../manifest.ts'
import type { IcebergDeps } from './ports.ts'

/** A scan as its run's manifest lists it. */
export type PublishedScan = Manifest['scans'][number]

/** What a run brings to one table. */
export type TableUpdate = {
  stream: Stream
  table: Table
  runId: string
  /** The scans of the stream that this publication makes visible, oldest first. */
  scans: readonly PublishedScan[]
  /** These and all that were published before: what a table begins with. */
  allScans: () => Promise<readonly PublishedScan[]>
  signal: AbortSignal
  /** Renews the right to write; throws when it is lost. */
  stillMine: () => Promise<void>
  deps: IcebergDeps
}
