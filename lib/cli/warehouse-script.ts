import type { PublishedFile } from '../publish/manifest.ts'
import { rowFiles } from '../stores/row-files.ts'
import { identifiedColumnsOf } from '../streams/field-ids.ts'
import type { Cell, Table } from '../streams/table.ts'
import { type Group, tablesIn } from '../warehouse/groups.ts'
import { type LoadFile, loadStatements, markStatements } from '../warehouse/load.ts'
import { copyLine } from '../warehouse/postgres.ts'
import type { Place } from '../warehouse/tables.ts'
import { intact } from './lake-files.ts'

/** The published lake, for those who load it elsewhere. */
export type LoadableLake = {
  lake: { readFiles(): Promise<PublishedFile[]> }
  objects: { get(key: string): Promise<Uint8Array | null> }
  /** What stands before a key where a warehouse reads the file: a bucket or a folder, with its slash. */
  root: string
}

type Asked = { place: Place; groups: readonly Group[]; after: string; signal: AbortSignal }

/** A published file with the address by which a warehouse finds it. */
export type AddressedFile = PublishedFile & LoadFile

/** The script that loads what was published after a time, in pieces: rows of a warehouse that reads no files are in it. */
export async function* scriptOf(lake: LoadableLake, { place, groups, after, signal }: Asked): AsyncGenerator<string> {
  const published = await lake.lake.readFiles()
  const files = published.filter(({ publishedAt }) => publishedAt > after)
  yield* place.dialect.settings.map(withEnd)
  const loaded: AddressedFile[] = []
  for (const group of groups) {
    const addressed = filesOf(group, files).map((file) => ({ ...file, address: `${lake.root}${file.key}` }))
    loaded.push(...addressed)
    for (const { sql, rows } of loadStatements(place, group, addressed)) {
      yield withEnd(sql)
      if (rows) yield* inlineRows(lake, { ...rows, signal })
      // What was cut off may not look whole.
      if (signal.aborted) return
    }
  }
  yield* markStatements(place, groups, loaded).map(withEnd)
}

/** The files of a group's tables, in the order of their publication. */
export function filesOf(group: Group, files: readonly PublishedFile[]): readonly PublishedFile[] {
  const names = new Set(tablesIn(group).map(({ name }) => name))
  return files
    .filter(({ kind, table }) => kind === 'changes' && names.has(table))
    .sort((a, b) => (`${a.publishedAt} ${a.key}` < `${b.publishedAt} ${b.key}` ? -1 : 1))
}

/** A statement with its end; those that psql itself reads end with their line. */
export function withEnd(sql: string): string {
  return sql.startsWith('\\') ? `${sql}\n` : `${sql};\n`
}

type Inline = { table: Table; files: readonly AddressedFile[]; signal: AbortSignal }

async function* inlineRows({ objects }: LoadableLake, { table, files, signal }: Inline): AsyncGenerator<string> {
  const columns = identifiedColumnsOf(table)
  for (const file of files) {
    // Without its end, so that psql takes none of these rows for all.
    if (signal.aborted) return
    const bytes = intact(file, await objects.get(file.key))
    for await (const group of rowFiles.read(bytes, columns)) {
      const rows = group[0]?.length ?? 0
      const lines = Array.from({ length: rows }, (_, row) =>
        copyLine(
          group.map((cells) => cells[row] as Cell),
          columns,
        ),
      )
      yield lines.join('')
    }
  }
  yield '\\.\n'
}
