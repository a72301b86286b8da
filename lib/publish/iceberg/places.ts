import { sha256 } from '../../core/hash.ts'
import { currentName } from '../../streams/current.ts'
import type { Stream } from '../../streams/stream.ts'
import type { Table } from '../../streams/table.ts'
import type { Commit } from './manifests.ts'
import { currentSnapshot, type TableMetadata } from './metadata.ts'

/** A table as engines see it: the change log of a declared table, or its current state. */
export type PublishedTable = { name: string; table: Table; kind: 'log' | 'current' }

/** The change log's table. */
export function logOf(table: Table): PublishedTable {
  return { name: table.name, table, kind: 'log' }
}

/** The current state's table. */
export function currentOf(table: Table): PublishedTable {
  return { name: currentName(table), table, kind: 'current' }
}

/**
 * Whether a table has a current state of its own. What happened does not change: the rows of a log that are there once
 * are current for ever, and rewriting them would cost the more the longer it is kept.
 */
export function hasCurrent({ mode, tables }: Stream, table: Table): boolean {
  return mode !== 'append' && tables.some(({ name }) => name === table.name)
}

/** Where all that a table owns lies. The files of a change log lie elsewhere: they belong to the manifests of runs. */
export function tablePrefix(name: string): string {
  return `iceberg/${name}/`
}

/** One try at a commit: the ids of its snapshot, and names that no other try uses. */
export type Attempt = {
  commit: Commit
  /** The key of a file of metadata. */
  metadataKey(name: string): string
  /** The key of the nth data file. */
  dataKey(at: number): string
  /** The key of the object that says how far it is. */
  progressKey: string
}

/** Ids stay below 2^53, so that every JSON reader keeps them: 52 bits of a hash. */
const idDigits = 13

/** Begins a try at a commit. Its names begin with the time, so that what is left of a dead one can be told from what is being written. */
export function beginAttempt(name: string, metadata: TableMetadata, by: { now: number; unique: string }): Attempt {
  const mark = `${by.now}-${sha256(by.unique).slice(0, idDigits)}`
  const prefix = tablePrefix(name)
  return {
    commit: {
      snapshotId: Number.parseInt(sha256(`${name} ${by.unique}`).slice(0, idDigits), 16),
      parentId: currentSnapshot(metadata)?.['snapshot-id'] ?? null,
      sequence: metadata['last-sequence-number'] + 1,
    },
    metadataKey: (part) => `${prefix}metadata/${mark}-${part}.avro`,
    dataKey: (at) => `${prefix}data/${mark}-${String(at).padStart(5, '0')}.parquet`,
    progressKey: `${prefix}metadata/${mark}-progress.json`,
  }
}

/** When the try began that wrote a file; null for a file of another kind. */
export function begunAt(key: string): number | null {
  const match = /\/(\d+)-[0-9a-f]{13}-[^/]*$/.exec(key)
  return match ? Number(match[1]) : null
}

/** Addresses of objects, as engines find them. */
export function addressesOf(base: string) {
  return {
    addressOf: (key: string) => `${base}/${key}`,
    keyOf: (address: string) => address.slice(base.length + 1),
  }
}
