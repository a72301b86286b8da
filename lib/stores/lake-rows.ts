import { FatalError } from '../core/errors.ts'
import type { FindCurrentFiles } from '../publish/iceberg/current-files.ts'
import { existing } from '../publish/iceberg/inspect.ts'
import type { RowFiles, RowGroup, TableFiles } from '../publish/iceberg/ports.ts'
import { isNewer, stands, type Version, versionColumns, versionReader } from '../publish/iceberg/versions.ts'
import type { PublishedFile } from '../publish/manifest.ts'
import type { LakeRows, RowBatch } from '../report/pictures/ports.ts'
import { currentName } from '../streams/current.ts'
import { identifiedColumnsOf } from '../streams/field-ids.ts'
import { streams } from '../streams/index.ts'
import { type Stream, tablesOf } from '../streams/stream.ts'
import type { Table } from '../streams/table.ts'
import type { FileLists } from './file-lists.ts'

/** The lake, as its rows are read: objects, which of them are published, and which hold a current state. */
export type LakeRowsDeps = {
  files: Pick<TableFiles, 'get'>
  rows: Pick<RowFiles, 'read'>
  lake: Pick<FileLists, 'readFiles'>
  /** The files of a table's current state; null where it must be made from all that was published. */
  currentFiles: FindCurrentFiles
}

type EachBatch = (batch: RowBatch) => void
type Asked = { stream: Stream; table: Table; columns: readonly string[]; eachBatch: EachBatch }
type Published = readonly PublishedFile[]

/**
 * The published lake as rows, read out of its Parquet files: one file at a time, and of it one group of rows and the columns
 * that are asked for. A current view is read from the files of its current state; where there are none, from the change log,
 * whose newest versions are found first.
 */
export function createLakeRows(deps: LakeRowsDeps): LakeRows {
  return {
    readColumns: async (name, columns, eachBatch) => {
      const { stream, table, isCurrent } = tableNamed(name)
      const asked: Asked = { stream, table, columns, eachBatch }
      const published = await deps.lake.readFiles()
      if (!isCurrent) return await readFilesOf(keysOf(table, published), asked, deps)
      const files = await deps.currentFiles({ stream, table, published })
      if (!files) return await readNewest(published, asked, deps)
      const keys = files.map(({ key }) => key)
      await readFilesOf(keys, asked, deps)
    },
  }
}

/** A table by the name of its change log or of its current view. @throws FatalError `usage` for any other name. */
function tableNamed(name: string): { stream: Stream; table: Table; isCurrent: boolean } {
  for (const stream of streams) {
    for (const table of tablesOf(stream)) {
      if (name === table.name || name === currentName(table)) return { stream, table, isCurrent: name !== table.name }
    }
  }
  throw new FatalError(`There is no table ${name} in the lake; docs/streams.md has their names.`, { code: 'usage' })
}

/** The keys of a change log's files. */
function keysOf({ name }: Table, published: Published): string[] {
  return published.filter(({ kind, table }) => kind === 'changes' && table === name).map(({ key }) => key)
}

async function readFilesOf(
  keys: readonly string[],
  { table, columns, eachBatch }: Asked,
  deps: LakeRowsDeps,
): Promise<void> {
  for (const key of keys) {
    for await (const group of groupsOf(key, table, { columns, deps })) {
      eachBatch({ rows: group[0]?.length ?? 0, columns: group })
    }
  }
}

/** @throws TypeError for a column that the table does not have: a mistake in the question. */
async function* groupsOf(
  key: string,
  table: Table,
  { columns, deps }: { columns: readonly string[]; deps: LakeRowsDeps },
): AsyncIterable<RowGroup> {
  const declared = identifiedColumnsOf(table)
  const wanted = columns.map((name) => declared.find((column) => column.name === name))
  const unknown = columns.filter((_, at) => wanted[at] === undefined)
  if (unknown.length > 0) throw new TypeError(`${table.name} has no column ${unknown.join(', ')}`)
  yield* deps.rows.read(
    await existing(key, deps),
    wanted.filter((column) => column !== undefined),
  )
}

/** Reads the rows of the newest versions out of a change log, as `currentQuery` has it in SQL. */
async function readNewest(published: Published, asked: Asked, deps: LakeRowsDeps): Promise<void> {
  const { stream, table, columns, eachBatch } = asked
  // Tables that observers fill, and those of streams without a list, have versions of their own.
  const owner = stream.tables.slice(1).some(({ name }) => name === table.name) ? stream.tables[0] : table
  const versions = await versionsOf(owner, published, deps)
  const read = [...columns, ...table.key.slice(0, owner.key.length), ...versionColumns]
  const keyAt = keyReader(read, table.key.slice(0, owner.key.length))
  const versionAt = versionReader(read.map((name) => ({ name })))
  for (const file of keysOf(table, published)) {
    for await (const group of groupsOf(file, table, { columns: read, deps })) {
      const rows = Array.from({ length: group[0]?.length ?? 0 }, (_, row) => row)
      const standing = rows.filter((row) => {
        const newest = versions.get(keyAt(group, row))
        return newest && stands(versionAt(group, row), newest)
      })
      const kept = columns.map((_, at) => standing.map((row) => group[at]?.[row] ?? null))
      eachBatch({ rows: standing.length, columns: kept })
    }
  }
}

async function versionsOf(table: Table, published: Published, deps: LakeRowsDeps): Promise<Map<string, Version>> {
  const versions = new Map<string, Version>()
  const columns = [...table.key, ...versionColumns]
  const keyAt = keyReader(columns, table.key)
  const versionAt = versionReader(columns.map((name) => ({ name })))
  for (const file of keysOf(table, published)) {
    for await (const group of groupsOf(file, table, { columns, deps })) {
      for (let row = 0; row < (group[0]?.length ?? 0); row++) {
        const [key, version] = [keyAt(group, row), versionAt(group, row)]
        const known = versions.get(key)
        if (!known || isNewer(version, known)) versions.set(key, version)
      }
    }
  }
  return versions
}

/** Reads what identifies the record of a row. */
function keyReader(columns: readonly string[], key: readonly string[]): (group: RowGroup, row: number) => string {
  const places = key.map((name) => columns.lastIndexOf(name))
  return (group, row) => JSON.stringify(places.map((at) => group[at]?.[row] ?? null))
}
