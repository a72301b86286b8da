import { RetryableError } from '../../core/errors.ts'
import { removeExpired, sweep } from './cleaning.ts'
import type { ManifestFile } from './manifests.ts'
import {
  emptyTable,
  expire,
  type Snapshot,
  type TableMetadata,
  withDeclaredColumns,
  withPrevious,
  withSnapshot,
} from './metadata.ts'
import { beginAttempt, type PublishedTable, tablePrefix } from './places.ts'
import type { FoundTable, IcebergDeps } from './ports.ts'
import { type Writing, writeManifestList } from './snapshots.ts'

/** A snapshot to be: its manifests, and what to say of it. */
export type Draft = { manifests: readonly ManifestFile[]; summary: Snapshot['summary'] }

/** How a draft is made from a table as it is found. `isNew`: there was none. Null when there is nothing to add. */
export type Prepare = (base: Writing & { isNew: boolean }) => Promise<Draft | null>

/** More writers than one meet only when a publisher lost its lease without noticing. */
const tries = 5

/**
 * Adds a snapshot to a table, which is made if need be. Whoever finds that another was faster reads the table anew and
 * prepares again: what it wrote is in no snapshot and is swept away later. `anew`: as if the table were not there, so that
 * nothing of what it had is left in it; it stays the same table to engines.
 */
export async function commit(
  published: PublishedTable,
  prepare: Prepare,
  { signal, anew = false, deps }: { signal: AbortSignal; anew?: boolean; deps: IcebergDeps },
): Promise<void> {
  for (let left = tries; left > 0; left--) {
    signal.throwIfAborted()
    const found = await deps.pointers.find(published.name)
    const ours = found && isOurs(found, published, deps) ? found : null
    const known = anew ? null : ours
    const uuid = ours?.metadata['table-uuid'] ?? deps.newAttempt()
    const metadata = known ? withDeclaredColumns(known.metadata, published.table) : newTable(published, { uuid, deps })
    const attempt = beginAttempt(published.name, metadata, { now: deps.clock.now(), unique: deps.newAttempt() })
    const base = { metadata, attempt, signal }
    const draft = await prepare({ ...base, isNew: known === null })
    if (draft === null && known?.metadata === metadata) return
    const next = draft === null ? metadata : await withDraft(draft, base, deps)
    if (await replace(published, { found, known, next, signal }, deps)) return
  }
  throw new RetryableError(
    `Others changed the table ${published.name} ${tries} times while a snapshot was added to it. The next publish adds it.`,
    { code: 'storage_unavailable' },
  )
}

/** A table that lies elsewhere was made before its folder or bucket was moved: its files can't be found by its addresses. */
function isOurs({ metadata }: FoundTable, published: PublishedTable, deps: IcebergDeps): boolean {
  return metadata.location === locationOf(published, deps)
}

function locationOf({ name }: PublishedTable, { address }: IcebergDeps): string {
  return `${address}/${tablePrefix(name).slice(0, -1)}`
}

function newTable(published: PublishedTable, { uuid, deps }: { uuid: string; deps: IcebergDeps }): TableMetadata {
  const { table, kind } = published
  const location = locationOf(published, deps)
  return emptyTable(table, { uuid, location, byDay: kind === 'log', now: deps.clock.now() })
}

async function withDraft({ manifests, summary }: Draft, base: Writing, deps: IcebergDeps): Promise<TableMetadata> {
  const manifestList = await writeManifestList(manifests, base, deps)
  return withSnapshot(base.metadata, { commit: base.attempt.commit, manifestList, summary, now: deps.clock.now() })
}

type Replacement = { found: FoundTable | null; known: FoundTable | null; next: TableMetadata; signal: AbortSignal }

async function replace(
  published: PublishedTable,
  { found, known, next, signal }: Replacement,
  deps: IcebergDeps,
): Promise<boolean> {
  const { metadata: kept, expired } = expire(next, deps.retention, deps.clock.now())
  const previous = known && { path: known.path, updatedAt: known.metadata['last-updated-ms'] }
  const { metadata, dropped } = previous ? withPrevious(kept, previous) : { metadata: kept, dropped: [] }
  if (!(await deps.pointers.replace(published.name, { found, metadata, signal }))) return false
  await removeExpired(published, { metadata, expired, dropped }, deps)
  await sweep(published, metadata, deps)
  return true
}
