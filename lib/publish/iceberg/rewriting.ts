import type { Table } from '../../streams/table.ts'
import type { PartFile } from '../../sync/checkpoint.ts'
import type { Attempt } from './places.ts'
import type { TableUpdate } from './update.ts'

/** What a current table takes over from some scans. */
export type Rewriting = Pick<
  TableUpdate,
  'table' | 'look' | 'signal' | 'stillMine' | 'deadline' | 'progress' | 'deps'
> & {
  /** The stream's main table, with whose key that of the table begins. */
  main: Table
  /** The files of the main table: they say which version of a record is the newest. */
  mainFiles: readonly PartFile[]
  /** The files with rows of the table. */
  changes: readonly PartFile[]
  attempt: Attempt
}
