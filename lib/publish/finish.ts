import type { Clock } from '../core/clock.ts'
import { eachConcurrently, mapConcurrently } from '../core/concurrency.ts'
import type { Deadline } from '../core/deadline.ts'
import { FatalError, RetryableError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { withoutShard } from '../streams/shards.ts'
import type { Stream } from '../streams/stream.ts'
import type { PartFile, ScanSummary } from '../sync/checkpoint.ts'
import type { Lease } from '../sync/lease.ts'
import type { Checkpoints, IndexStore, Lake } from '../sync/ports.ts'
import type { Manifest, PublishState } from './manifest.ts'
import { mergeScans } from './merge.ts'
import type { BehindTables, Catalog, MadeNow, Manifests, Merger, WarehouseTables } from './ports.ts'

type Pending = NonNullable<PublishState['pending']>

/** What carrying out a publication needs from the world. */
export type FinishingDeps = {
  checkpoints: Checkpoints
  lake: Lake & Manifests & Merger
  index: IndexStore
  catalog: Catalog
  tables: WarehouseTables
  clock: Clock
  log: Log
  /** All streams whose scans may wait: a run also finishes what an earlier publisher left. */
  published: readonly Stream[]
}

type Finishing = FinishingDeps & {
  lease: Lease
  /** When the publication before this one was made. */
  publishedBefore: string
  behind: BehindTables
  deadline: Deadline
  /** Takes down how far it is: what writes the publisher's state next brings it along. */
  note(pending: Pending): void
  /** Renews the lease where it is half over; throws when it is lost. */
  stillMine(): Promise<void>
}

/** A publication that was carried out: the manifest of its run, and what of that is its own. */
export type Publication = { manifest: Manifest; published: MadeNow }

const callsAtOnce = 8

/**
 * Carries out a publication that was written down. Every step may be repeated: merging gives the same files, the manifest
 * keeps what it lists already, and removing what is gone removes nothing. The tables of its streams are noted as behind it.
 */
export async function finishPublication(pending: Pending, deps: Finishing): Promise<Publication> {
  const { lake, lease, checkpoints, index } = deps
  const { runId, scans } = pending
  const [before, found] = await Promise.all([lake.readManifest(runId), readLists(scans, deps)])
  const news = await newsOf(found, before, deps)
  const manifest = manifestOf(runId, before, { listed: await withFewFiles(news, pending, deps), deps })
  const published = manifest.scans.filter((scan) => scans.some((one) => isOne(one, scan)))
  if (news.length > 0) await lake.writeManifest(manifest, lease.signal)
  // Engines that read a whole folder see it once it is registered: by then it holds what the manifest lists, and no parts.
  const together = [...Map.groupBy(scans, ({ stream }) => withoutShard(stream)).values()]
  const working = mapConcurrently(together, callsAtOnce, (some) => index.objectsOf(some))
  working.catch(() => {
    // Awaited when all is visible: what only cleans up holds nothing back.
  })
  await eachConcurrently(together, callsAtOnce, (some) => removeOthers(some, manifest, deps))
  if (published.length > 0) {
    await deps.catalog.register(manifest)
    await lake.addToList({ ...manifest, scans: published }, lease.signal)
    noteBehind({ ...manifest, scans: published }, deps)
    await lake.pointLatest(manifest, lease.signal)
  }
  await eachConcurrently(scans, callsAtOnce, ({ stream, scanId }) => checkpoints.markPublished(stream, scanId))
  await index.remove((await working).flat())
  return { manifest, published: { ...manifest, scans: published } }
}

/** One that is behind an earlier publication stays so. */
function noteBehind({ scans, publishedAt: since }: Manifest, { tables, behind }: Finishing): void {
  for (const name of tables.namesOf(scans.map(({ stream }) => stream))) {
    behind.note(name, behind.of(name) ?? { since, reason: null, triedAt: 0 })
  }
}

type Found = { scan: ScanSummary; files: PartFile[] | null }
type Listed = { scan: ScanSummary; files: PartFile[] }

function readLists(scans: readonly ScanSummary[], { index }: Finishing): Promise<Found[]> {
  return mapConcurrently(scans, callsAtOnce, async (scan) => ({ scan, files: await index.readFiles(scan.filesKey) }))
}

/** The scans that changed something and are in no manifest yet, with their parts. */
async function newsOf(found: readonly Found[], before: Manifest | null, deps: Finishing): Promise<Listed[]> {
  const unlisted = found.filter(({ scan }) => !before?.scans.some((listed) => isOne(listed, scan)))
  const news: Listed[] = []
  for (const { scan, files } of unlisted) news.push({ scan, files: files ?? (await withoutFiles(scan, deps)) })
  return news.filter(({ files }) => files.length > 0)
}

/** The list of files goes last: where it is gone, the scan had none and waits no more, or something is wrong. */
async function withoutFiles(scan: ScanSummary, { checkpoints }: Finishing): Promise<PartFile[]> {
  const waiting = await checkpoints.unpublished(scan.stream)
  if (waiting.some(({ scanId }) => scanId === scan.scanId)) throw lostFiles(scan)
  return []
}

async function withFewFiles(news: readonly Listed[], pending: Pending, deps: Finishing): Promise<Listed[]> {
  const { lake, lease, published: streams, note } = deps
  const stillMine = async () => {
    await deps.stillMine()
    if (deps.deadline.remainingMs() <= 0) throw timeIsUp(pending)
  }
  const files = await mergeScans(
    news.map((scan) => scan.files),
    {
      ...{ lake, streams, stillMine },
      signal: lease.signal,
      before: pending.merged,
      note: (merged) => note({ ...pending, merged }),
    },
  )
  return news.map(({ scan }, at) => ({ scan, files: files[at] ?? [] }))
}

/** Removes the parts that were merged, and what dead attempts left. `some`: scans of one stream, or of its shards. */
async function removeOthers(some: readonly ScanSummary[], { scans }: Manifest, deps: Finishing) {
  const { lake, lease, log, published } = deps
  const stream = published.find(({ name }) => name === some[0]?.stream)
  if (!stream) return
  const files = scans.flatMap((scan) => scan.files)
  const removed = await lake.removeLeftovers(some, stream, { files, signal: lease.signal })
  if (removed > 0) log.debug('Removed parts.', { stream: withoutShard(stream.name), removed })
}

type Named = Pick<ScanSummary, 'stream' | 'scanId'>

function isOne(one: Named, other: Named): boolean {
  return one.stream === other.stream && one.scanId === other.scanId
}

function manifestOf(
  runId: string,
  before: Manifest | null,
  { listed, deps: { clock, publishedBefore } }: { listed: Listed[]; deps: Finishing },
): Manifest {
  return {
    version: 1,
    runId,
    publishedAt: before && listed.length === 0 ? before.publishedAt : laterThan(publishedBefore, clock.now()),
    scans: [...(before?.scans ?? []), ...listed.map(publishedScan)],
  }
}

function publishedScan({ scan, files }: Listed): Manifest['scans'][number] {
  const { stream, scanId, status, reason, records, counts, startedAt, completedAt } = scan
  return {
    ...{ stream, scanId, status, reason, records, counts, files },
    startedAt: iso(startedAt),
    completedAt: iso(completedAt),
  }
}

/** Now, or where the clock was set back, as little after the last time as can be told. */
function laterThan(last: string, now: number): string {
  return iso(now) > last ? iso(now) : iso(Date.parse(last) + 1)
}

function iso(unixMs: number) {
  return new Date(unixMs).toISOString()
}

function timeIsUp({ runId }: Pending) {
  return new RetryableError(
    `The files of run ${runId} are not all merged, and the time of this attempt is up. The next one goes on with them.`,
    { code: 'time_is_up' },
  )
}

function lostFiles({ stream, filesKey }: ScanSummary) {
  return new FatalError(
    `${stream}: the list of files of a scan that waits for publish is gone (${filesKey}). ` +
      `Run "platform-sync reset ${stream} --index" and sync again: every record is then written anew.`,
    { code: 'damaged_state' },
  )
}
