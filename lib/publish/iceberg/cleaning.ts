import { currentSnapshot, type Snapshot, type TableMetadata } from './metadata.ts'
import { addressesOf, begunAt, type PublishedTable, tablePrefix } from './places.ts'
import type { IcebergDeps } from './ports.ts'
import { liveEntries, manifestsOf } from './snapshots.ts'

/** What a table no longer names. */
type Gone = { metadata: TableMetadata; expired: readonly Snapshot[]; dropped: readonly string[] }

/**
 * Removes what expired snapshots alone had: manifest lists, manifests, and a current table's files. A change log's data
 * files stay, whatever expires: the manifests of runs list them.
 */
export async function removeExpired(published: PublishedTable, gone: Gone, deps: IcebergDeps): Promise<void> {
  const { keyOf } = addressesOf(deps.address)
  const { metadata, expired, dropped } = gone
  if (expired.length > 0) {
    // History is a line: what the oldest snapshot that stays does not name, no later one does.
    const stays = await addressesIn(metadata.snapshots[0] ?? null, published, deps)
    const names = new Set<string>()
    for (const snapshot of expired) for (const name of await addressesIn(snapshot, published, deps)) names.add(name)
    await deps.files.remove([...names].filter((name) => !stays.has(name)).map(keyOf))
  }
  if (dropped.length > 0) await deps.files.remove(dropped.map(keyOf))
}

/** The addresses of all that a table owns in a snapshot. */
export async function addressesIn(
  snapshot: Snapshot | null,
  { kind }: PublishedTable,
  deps: IcebergDeps,
): Promise<Set<string>> {
  const names = new Set<string>(snapshot ? [snapshot['manifest-list']] : [])
  for (const manifest of await manifestsOf(snapshot, deps)) {
    names.add(manifest.manifest_path)
    if (kind === 'log') continue
    for (const { file } of await liveEntries(manifest, deps)) names.add(file.path)
  }
  return names
}

/** How often tables are swept, in commits. */
const sweepEvery = 16
/** Whoever began a try so long ago has died: its lease was a matter of minutes. */
const abandonedMs = 86_400_000

/** Removes, once in a while, what tries left that died or lost: files of the table's own folder that no snapshot names. */
export async function sweep(published: PublishedTable, metadata: TableMetadata, deps: IcebergDeps): Promise<void> {
  if (currentSnapshot(metadata) === null || metadata['last-sequence-number'] % sweepEvery !== 0) return
  const { keyOf } = addressesOf(deps.address)
  const named = new Set<string>()
  for (const snapshot of metadata.snapshots) {
    for (const address of await addressesIn(snapshot, published, deps)) named.add(keyOf(address))
  }
  const keys = await deps.files.list(tablePrefix(published.name))
  const isLeft = leftBehind(metadata, deps)
  await deps.files.remove(keys.filter((key) => !named.has(key) && isLeft(key)))
}

function leftBehind({ 'metadata-log': log }: TableMetadata, { clock }: IcebergDeps): (key: string) => boolean {
  const before = clock.now() - abandonedMs
  const oldest = metadataVersion(log[0]?.['metadata-file'] ?? '') ?? 0
  return (key) => {
    const [begun, version] = [begunAt(key), metadataVersion(key)]
    return begun === null ? version !== null && version < oldest : begun < before
  }
}

/** The number in the name of a metadata file; null for a file of another kind. */
function metadataVersion(name: string): number | null {
  const match = /\/v?(\d+)[^/]*\.metadata\.json$/.exec(name)
  return match ? Number(match[1]) : null
}
