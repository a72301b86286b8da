import type { Table } from '../../streams/table.ts'
import type { Attempt } from './places.ts'
import type { IcebergDeps } from './ports.ts'
import type { Versions } from './versions.ts'

/** What a current table takes over from some scans. */
export type Rewriting = {
  table: Table
  /** The columns of the record's key; of a nested table those of its parent's. */
  recordKey: readonly string[]
  /** What changed, by record. */
  versions: Versions
  /** The keys of the files with the rows of these versions, and others. */
  changes: readonly string[]
  /** Whether these files are in the form that this version writes: those of an earlier publication may lack columns. */
  isCurrentForm: boolean
  attempt: Attempt
  signal: AbortSignal
  deps: IcebergDeps
}
