import { existing } from './inspect.ts'
import {
  type DataFile,
  decodeManifest,
  decodeManifestList,
  encodeManifest,
  encodeManifestList,
  type ManifestEntry,
  type ManifestFile,
  manifestFileOf,
} from './manifests.ts'
import { currentSnapshot, currentSpecOf, type Snapshot, schemaOf, type TableMetadata } from './metadata.ts'
import { type Attempt, addressesOf } from './places.ts'
import type { IcebergDeps } from './ports.ts'

const avro = 'application/avro'

/** What reading a table's metadata needs: its objects, and the address they are known by. */
type TableReading = Pick<IcebergDeps, 'address'> & { files: Pick<IcebergDeps['files'], 'get'> }

/** The manifests of a snapshot; none where there is no snapshot. */
export async function manifestsOf(snapshot: Snapshot | null, deps: TableReading): Promise<ManifestFile[]> {
  if (!snapshot) return []
  const path = snapshot['manifest-list']
  return decodeManifestList(await existing(addressesOf(deps.address).keyOf(path), deps), path)
}

/** The entries of a manifest that are still in the table. */
export async function liveEntries(manifest: ManifestFile, deps: TableReading): Promise<ManifestEntry[]> {
  const { manifest_path: path, sequence_number: sequence } = manifest
  const bytes = await existing(addressesOf(deps.address).keyOf(path), deps)
  return decodeManifest(bytes, { path, sequence }).filter(({ status }) => status !== 'deleted')
}

/** What writing a snapshot's files needs besides the world. */
export type Writing = { metadata: TableMetadata; attempt: Attempt; signal: AbortSignal }

/** Writes a manifest, and answers how the manifest list names it. */
export async function writeManifest(
  name: string,
  entries: readonly ManifestEntry[],
  { metadata, attempt, signal, deps }: Writing & { deps: IcebergDeps },
): Promise<ManifestFile> {
  const spec = currentSpecOf(metadata)
  const bytes = encodeManifest(entries, { schema: schemaOf(metadata), spec })
  const key = attempt.metadataKey(name)
  await deps.files.put(key, bytes, { signal, contentType: avro })
  const path = addressesOf(deps.address).addressOf(key)
  return manifestFileOf(entries, { path, length: bytes.byteLength, spec, commit: attempt.commit })
}

/** Writes a manifest list; answers its address. */
export async function writeManifestList(
  manifests: readonly ManifestFile[],
  { attempt, signal }: Writing,
  deps: IcebergDeps,
): Promise<string> {
  const key = attempt.metadataKey(`snap-${attempt.commit.snapshotId}`)
  await deps.files.put(key, encodeManifestList(manifests, attempt.commit), { signal, contentType: avro })
  return addressesOf(deps.address).addressOf(key)
}

/** The entry of a file that a commit adds. */
export function addedEntry(file: DataFile, { commit }: Attempt): ManifestEntry {
  return { status: 'added', snapshotId: commit.snapshotId, sequence: null, file }
}

/** Where a snapshot stems from. */
export type Origin = { runId: string; scanIds: readonly string[] }

const runIdEntry = 'platform-sync.run-id'
const scanIdsEntry = 'platform-sync.scan-ids'

/** The scans that a table's snapshots hold, as far as they can be asked for. A scan is in them once. */
export function committedScans({ snapshots }: TableMetadata): Set<string> {
  return new Set(snapshots.flatMap(({ summary }) => (summary[scanIdsEntry] ?? '').split(' ')))
}

type Changed = { added: readonly DataFile[]; removed: readonly DataFile[] }

/** A snapshot's summary: what it changed and holds, in Iceberg's words, and the run and the scans that it stems from. */
export function summaryOf(
  { added, removed }: Changed,
  { runId, scanIds }: Origin,
  metadata: TableMetadata,
): Snapshot['summary'] {
  const before: Readonly<Record<string, string>> = currentSnapshot(metadata)?.summary ?? {}
  const sum = (files: readonly DataFile[], of: (file: DataFile) => number) => files.reduce((n, file) => n + of(file), 0)
  const measures = [
    ['data-files', () => 1],
    ['records', ({ rows }: DataFile) => rows],
    ['files-size', ({ bytes }: DataFile) => bytes],
  ] as const
  const counts = measures.flatMap(([name, of]) => {
    const [plus, minus] = [sum(added, of), sum(removed, of)]
    const total = Number(before[`total-${name}`] ?? 0) + plus - minus
    const removedName = name === 'files-size' ? 'removed-files-size' : `deleted-${name}`
    return [
      [`added-${name}`, plus],
      ...(removed.length > 0 ? [[removedName, minus]] : []),
      [`total-${name}`, total],
    ].map(([entry, value]) => [entry, String(value)])
  })
  return {
    operation: removed.length > 0 ? 'overwrite' : 'append',
    [runIdEntry]: runId,
    [scanIdsEntry]: scanIds.join(' '),
    ...Object.fromEntries(counts),
    'total-delete-files': '0',
    'total-position-deletes': '0',
    'total-equality-deletes': '0',
  }
}
