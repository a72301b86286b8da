import type { PublishedFile } from '../publish/manifest.ts'
import { runsKey, runsPrefix } from '../stores/lake-paths.ts'
import { readRows } from '../stores/read-rows.ts'
import type { IdentifiedColumn } from '../streams/field-ids.ts'
import type { Cell } from '../streams/table.ts'
import { type Group, tablesIn } from '../warehouse/groups.ts'
import { type LoadFile, loadStatements, markStatements } from '../warehouse/load.ts'
import { copyLine } from '../warehouse/postgres.ts'
import { runsStatements } from '../warehouse/runs.ts'
import type { Place } from '../warehouse/tables.ts'
import { intact, type PublishedLake } from './lake-files.ts'

/** The published lake, for those who load it elsewhere. */
export type LoadableLake = Pick<PublishedLake, 'lake' | 'objects'> & {
  /** What stands before a key where a warehouse reads the file: a bucket or a folder, with its slash. */
  root: string
}

/** `runs`: whether the table of runs is asked for, too. */
type Asked = { place: Place; groups: readonly Group[]; runs: boolean; after: string; signal: AbortSignal }

/** A published file with the address by which a warehouse finds it. */
export type AddressedFile = PublishedFile & LoadFile

/** The script that loads what was published after a time, in pieces: rows of a warehouse that reads no files are in it. */
export async function* scriptOf(
  lake: LoadableLake,
  { place, groups, runs, after, signal }: Asked,
): AsyncGenerator<string> {
  const published = await lake.lake.readFiles()
  const files = published.filter(({ publishedAt }) => publishedAt > after)
  yield* [...(place.dialect.toolSettings ?? []), ...place.dialect.settings].map(withEnd)
  const loaded: AddressedFile[] = []
  for (const group of groups) {
    const addressed = filesOf(group, files).map((file) => ({ ...file, address: `${lake.root}${file.key}` }))
    loaded.push(...addressed)
    for (const { sql, rows } of loadStatements(place, group, addressed)) {
      yield withEnd(sql)
      if (rows) yield* inlineRows({ ...rows, signal }, async (file) => intact(file, await lake.objects.get(file.key)))
      // What was cut off may not look whole.
      if (signal.aborted) return
    }
  }
  for (const { sql, rows } of runsStatements(place, runs ? await runsFiles(lake, after) : [])) {
    yield withEnd(sql)
    if (rows) yield* inlineRows({ ...rows, signal }, async ({ key }) => await lake.objects.get(key))
    if (signal.aborted) return
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

/** A file of the table of runs, with the address by which a warehouse finds it. */
type RunsFile = { key: string; address: string }

/** The files of the table of runs that may hold what came after a time: that of its month, and of the one before. */
export async function runsFiles({ objects, root }: LoadableLake, after: string): Promise<RunsFile[]> {
  const at = new Date(after)
  const before = Number.isNaN(at.getTime()) ? 0 : Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1)
  const oldest = runsKey(new Date(before).toISOString().slice(0, 7))
  const keys = (await objects.list(runsPrefix)).filter((key) => key >= oldest)
  return keys.map((key) => ({ key, address: `${root}${key}` }))
}

type Inline<F> = { columns: readonly IdentifiedColumn[]; files: readonly F[]; signal: AbortSignal }
type BytesOf<F> = (file: F) => Promise<Uint8Array | null>

/** The rows of files as psql reads them behind a statement. */
async function* inlineRows<F>(inline: Inline<F>, bytesOf: BytesOf<F>): AsyncGenerator<string> {
  yield* rowLines(inline, bytesOf)
  // Without its end, psql takes none of the rows.
  if (!inline.signal.aborted) yield '\\.\n'
}

/** So many characters of lines are handed on together: a group of rows may be too much for one text. */
const piece = 1_000_000

/**
 * The rows of files as lines, in pieces of bounded length. A file that is gone since it was listed has none. It ends early
 * when it is interrupted, so that who asked must look at the signal.
 */
export async function* rowLines<F>({ columns, files, signal }: Inline<F>, bytesOf: BytesOf<F>): AsyncGenerator<string> {
  for (const file of files) {
    if (signal.aborted) return
    const bytes = await bytesOf(file)
    if (bytes === null) continue
    for await (const group of readRows(bytes, columns)) {
      let lines = ''
      for (let row = 0; row < (group[0]?.length ?? 0); row++) {
        const cells = group.map((column) => column[row] as Cell)
        lines += copyLine(cells, columns)
        if (lines.length < piece) continue
        yield lines
        lines = ''
        if (signal.aborted) return
      }
      yield lines
    }
  }
}
