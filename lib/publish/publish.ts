import type { Clock } from '../core/clock.ts'
import { FatalError, messageOf } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { Stream } from '../streams/stream.ts'
import type { PartFile, ScanSummary } from '../sync/checkpoint.ts'
import type { Run } from '../sync/context.ts'
import { type Lease, watchLease } from '../sync/lease.ts'
import type { Checkpoints, IndexStore, Lake } from '../sync/ports.ts'
import type { Manifest, PublishState } from './manifest.ts'
import type { Catalog, Manifests, Publications, WarehouseTables } from './ports.ts'

/** What publishing needs from the world. */
export type PublishDeps = {
  checkpoints: Checkpoints
  publications: Publications
  lake: Lake & Manifests
  index: IndexStore
  catalog: Catalog
  tables: WarehouseTables
  clock: Clock
  log: Log
  /** All streams whose scans may wait: a run also finishes what an earlier publisher left. */
  published: readonly Stream[]
  newOwner: () => string
  leaseMs: number
}

/** What a publication came to: the manifest of the run, or who publishes already. */
export type PublishResult = { manifest: Manifest } | { heldBy: string; until: number }

type Publishing = { deps: PublishDeps; streams: readonly Stream[]; lease: Lease; state: PublishState }

/**
 * Makes the scans that ended visible, in one step: the manifest of the run. Which scans go into it is written down
 * first, so that a publisher that died is finished by the next one, whatever its streams were, and no file is ever in
 * two manifests. `streams` are those whose scans are collected.
 */
export async function publishRun(run: Run, streams: readonly Stream[], deps: PublishDeps): Promise<PublishResult> {
  const owner = deps.newOwner()
  const now = deps.clock.now()
  const acquired = await deps.publications.acquire({ owner, now, expiresAt: now + deps.leaseMs })
  if ('heldBy' in acquired) return acquired
  const lease = watchLease(deps.clock, { owner, expiresAt: now + deps.leaseMs, ttlMs: deps.leaseMs })
  const publishing: Publishing = { deps, streams, lease, state: acquired.state }
  try {
    const manifest = await publish(publishing, run)
    await save(publishing, null, true)
    return { manifest }
  } catch (error) {
    await save(publishing, publishing.state.pending, true).catch((saveError: unknown) => {
      deps.log.warn('The publisher could not give up its lease; it runs out by itself.', {
        reason: messageOf(saveError),
      })
    })
    throw error
  } finally {
    lease.stop()
  }
}

async function publish(publishing: Publishing, { runId }: Run): Promise<Manifest> {
  const { deps, streams, state } = publishing
  if (state.pending) await finish(publishing, state.pending)
  const waiting = await Promise.all(streams.map(({ name }) => deps.checkpoints.unpublished(name)))
  const pending = { runId, scans: waiting.flat() }
  await save(publishing, pending)
  return await finish(publishing, pending)
}

async function save(publishing: Publishing, pending: PublishState['pending'], release = false): Promise<void> {
  const { deps, lease } = publishing
  publishing.state = { ...publishing.state, pending }
  const expiresAt = lease.proposal()
  await deps.publications.save(publishing.state, { owner: lease.owner, expiresAt, release })
  lease.extend(expiresAt)
}

type Pending = NonNullable<PublishState['pending']>

/** Every step may be repeated: the manifest keeps what it already lists, and removing what is gone removes nothing. */
async function finish(publishing: Publishing, pending: Pending): Promise<Manifest> {
  const { deps, lease } = publishing
  const { runId, scans } = pending
  const listed = await Promise.all(scans.map(async (scan) => ({ scan, files: await filesOf(scan, deps) })))
  const before = await deps.lake.readManifest(runId)
  const told = listed.filter((scan) => !isIdle(scan, deps))
  const manifest = manifestOf(runId, before, { listed: told, publishedAt: deps.clock.now() })
  // Engines that read a whole partition must not see what dead attempts left, so that goes first.
  for (const { scan, files } of listed) await removeOrphans(scan, files, deps)
  // A run that has nothing to add is not the latest because of that.
  if (told.length > 0) {
    await deps.lake.writeManifest(manifest, lease.signal)
    await deps.catalog.register(manifest)
    const ids = new Set(scans.map(({ scanId }) => scanId))
    const published = { runId, scans: manifest.scans.filter(({ scanId }) => ids.has(scanId)) }
    await deps.tables.update(published, { signal: lease.signal, stillMine: () => save(publishing, pending) })
    await deps.lake.pointLatest(manifest, lease.signal)
  }
  for (const { scan } of listed) {
    await deps.checkpoints.markPublished(scan.stream, scan.scanId)
    await deps.index.removeScan(scan)
  }
  return manifest
}

/** Whether a scan of a log brought nothing: of a list it is news that all of it was read, of a log it is none. */
function isIdle({ scan, files }: Listed, { published }: PublishDeps): boolean {
  const stream = published.find(({ name }) => name === scan.stream)
  return stream?.mode === 'append' && files?.length === 0
}

async function removeOrphans(scan: ScanSummary, files: PartFile[] | null, deps: PublishDeps) {
  const stream = deps.published.find(({ name }) => name === scan.stream)
  if (!stream || files === null) return
  const orphans = await deps.lake.removeOrphans(scan, stream, files)
  if (orphans > 0) deps.log.info('Removed what dead attempts left.', { stream: scan.stream, orphans })
}

/** Null when the scan's working objects are gone: then an earlier try at this publication got past them. */
async function filesOf(scan: ScanSummary, { index }: PublishDeps): Promise<PartFile[] | null> {
  return await index.readFiles(scan.filesKey)
}

type Listed = { scan: ScanSummary; files: PartFile[] | null }

function manifestOf(
  runId: string,
  before: Manifest | null,
  { listed, publishedAt }: { listed: Listed[]; publishedAt: number },
): Manifest {
  const kept = before?.scans ?? []
  const isKept = ({ scanId, stream }: ScanSummary) =>
    kept.some((scan) => scan.stream === stream && scan.scanId === scanId)
  const added = listed.filter(({ scan }) => !isKept(scan))
  for (const { scan, files } of added) if (files === null) throw lostFiles(scan)
  return {
    version: 1,
    runId,
    publishedAt: before && added.length === 0 ? before.publishedAt : iso(publishedAt),
    scans: [...kept, ...added.map(({ scan, files }) => publishedScan(scan, files ?? []))],
  }
}

function publishedScan(scan: ScanSummary, files: PartFile[]): Manifest['scans'][number] {
  const { stream, scanId, status, reason, records, counts, startedAt, completedAt } = scan
  return {
    stream,
    scanId,
    status,
    reason,
    startedAt: iso(startedAt),
    completedAt: iso(completedAt),
    records,
    counts,
    files,
  }
}

function iso(unixMs: number) {
  return new Date(unixMs).toISOString()
}

function lostFiles({ stream, filesKey }: ScanSummary) {
  return new FatalError(
    `${stream}: the list of files of a scan that waits for publish is gone (${filesKey}). ` +
      `Run "platform-sync reset ${stream} --index" and sync again: every record is then written anew.`,
    { code: 'damaged_state' },
  )
}
