import { sha256 } from '../../../lib/core/hash.ts'
import { filesOf, type Manifest, type PublishedFile } from '../../../lib/publish/manifest.ts'
import type { Manifests, Merger } from '../../../lib/publish/ports.ts'
import { mergedKey, orphansOf, type PartKind, partKey, schemaVersion } from '../../../lib/stores/lake-paths.ts'
import type { Stream } from '../../../lib/streams/stream.ts'
import { type Cell, columnsOf } from '../../../lib/streams/table.ts'
import type { PartFile, ScanFootprint } from '../../../lib/sync/checkpoint.ts'
import type { Lake, QuarantinedRecord } from '../../../lib/sync/ports.ts'
import { stopIfAborted } from './records.ts'

/** A row by its column names. */
export type Row = Record<string, Cell>

/** The lake in memory, with its objects open for inspection. */
export type MemoryLake = Lake &
  Manifests &
  Merger & {
    /** Rows of `changes` files and records of `quarantine` files by key, whether a manifest lists them or not. */
    files: Map<string, { rows: Row[] } | { records: QuarantinedRecord[] }>
    manifests: Map<string, Manifest>
    latest(): Manifest | null
    /** The rows of a table that readers see: those of files that are listed. */
    publishedRows(table: string): Row[]
  }

/** A lake that keeps rows instead of Parquet; keys are those of the real one. */
export function createMemoryLake({ partsPerFile = 100 } = {}): MemoryLake {
  const files: MemoryLake['files'] = new Map()
  const manifests = new Map<string, Manifest>()
  const listed = new Map<string, PublishedFile>()
  let latest: Manifest | null = null

  const write = (
    kind: PartKind,
    key: string,
    part: { name: string; version: string; content: Row[] | QuarantinedRecord[] },
  ) => {
    const content = [...part.content] as Row[] | QuarantinedRecord[]
    files.set(key, kind === 'changes' ? { rows: content as Row[] } : { records: content as QuarantinedRecord[] })
    const text = JSON.stringify(content)
    const rest = { rows: content.length, bytes: text.length, sha256: sha256(text), schemaVersion: part.version }
    return { kind, table: part.name, key, ...rest } satisfies PartFile
  }

  const rowsIn = (key: string): Row[] => {
    const file = files.get(key)
    if (!file || !('rows' in file)) throw new Error(`${key} is not there`)
    return file.rows
  }

  return {
    files,
    manifests,
    latest: () => latest,
    publishedRows: (table) =>
      [...listed.values()]
        .filter((file) => file.kind === 'changes' && file.table === table)
        .flatMap(({ key }) => {
          const file = files.get(key)
          return file && 'rows' in file ? file.rows : []
        }),
    writeRows: async (path, { table, columns, rows }, signal) => {
      stopIfAborted(signal)
      const names = columnsOf(table).map(({ name }) => name)
      const content = Array.from({ length: rows }, (_, row): Row => {
        return Object.fromEntries(names.map((name, i) => [name, columns[i]![row]!]))
      })
      const key = partKey('changes', table.name, path)
      return write('changes', key, { name: table.name, version: schemaVersion(table), content })
    },
    writeQuarantine: async (path, records, signal) => {
      stopIfAborted(signal)
      const key = partKey('quarantine', path.stream, path)
      return write('quarantine', key, { name: path.stream, version: '1', content: records })
    },
    mergeParts: async (table, parts, { signal }) => {
      stopIfAborted(signal)
      const some = parts.slice(0, partsPerFile)
      const content = some.flatMap(({ key }) => rowsIn(key))
      const by = (row: Row) => table.key.map((column) => String(row[column])).join()
      content.sort((a, b) => (by(a) < by(b) ? -1 : 1))
      const version = schemaVersion(table)
      return { files: [write('changes', mergedKey(some), { name: table.name, version, content })], taken: some.length }
    },
    mergeQuarantine: async (parts, { signal }) => {
      stopIfAborted(signal)
      const some = parts.slice(0, partsPerFile)
      const content = some.flatMap(({ key }) => {
        const file = files.get(key)
        if (!file || !('records' in file)) throw new Error(`${key} is not there`)
        return file.records
      })
      const [{ table: name, schemaVersion: version }] = some as [PartFile]
      return { files: [write('quarantine', mergedKey(some), { name, version, content })], taken: some.length }
    },
    readManifest: async (runId) => structuredClone(manifests.get(runId) ?? null),
    writeManifest: async (manifest, signal) => {
      stopIfAborted(signal)
      manifests.set(manifest.runId, structuredClone(manifest))
    },
    addToList: async (publication, signal) => {
      stopIfAborted(signal)
      for (const file of filesOf(publication)) listed.set(file.key, file)
    },
    pointLatest: async (manifest, signal) => {
      stopIfAborted(signal)
      latest = structuredClone(manifest)
    },
    removeOrphans: async (scans, stream, listed) => removeOrphans(files, scans, { stream, listed }),
    removeLeftovers: async (scans, stream, publication) =>
      removeOrphans(files, scans, { stream, listed: publication.files }),
  }
}

function removeOrphans(
  files: Map<string, unknown>,
  scans: readonly ScanFootprint[],
  { stream, listed }: { stream: Stream; listed: readonly PartFile[] },
): number {
  const orphans = scans.flatMap((scan) => orphansOf([...files.keys()], { scan, stream, files: listed }))
  for (const key of orphans) files.delete(key)
  return orphans.length
}
