import { utcDate } from '../core/clock.ts'
import { sha256 } from '../core/hash.ts'
import { shardLabel, withoutShard } from '../streams/shards.ts'
import { type Stream, tablesOf } from '../streams/stream.ts'
import { columnsOf, type Table } from '../streams/table.ts'
import type { PartFile, ScanFootprint } from '../sync/checkpoint.ts'
import type { PartPath } from '../sync/ports.ts'

/** What a file of the lake holds: rows of a table, or a stream's quarantined records. */
export type PartKind = 'changes' | 'quarantine'

type Partition = { kind: PartKind; name: string; startedAt: number; runId: string }

/**
 * Where a run's files of a table (or of a stream's quarantine) lie. `dt` is the UTC date on which the scan began, on
 * every machine; publish registers the folder as a partition of the catalog.
 */
export function partitionPrefix({ kind, name, startedAt, runId }: Partition): string {
  return `${kind}/${name}/dt=${utcDate(startedAt)}/run=${runId}/`
}

/** Where a table's files lie, all partitions together. */
export function tableLocation(name: string): string {
  return `changes/${name}/`
}

/** What the keys of parts of tables end with. */
export const partExtension = 'rows'
/** What the keys of quarantine files end with, parts and published ones. */
const quarantineExtension = 'ndjson.gz'

/** The key of one file. The fence keeps the files of two attempts at one part apart, and a label those of two shards; zeros keep listings in order. */
export function partKey(kind: PartKind, name: string, path: PartPath): string {
  const extension = kind === 'changes' ? partExtension : quarantineExtension
  return `${filePrefix({ ...path, kind, name })}${padded(path.part)}-${path.fence}.${extension}`
}

/** What the keys of a scan's files begin with: their folder, and of a shard, which shares it with the others, its label. */
function filePrefix({ stream, name, ...partition }: Partition & { stream: string }): string {
  const label = shardLabel(stream)
  return `${partitionPrefix({ ...partition, name: withoutShard(name) })}${label === '' ? '' : `${label}-`}`
}

/** The key of a file that parts become, `number` of several, in the folder of the first: the same whoever merges them, and no attempt's. */
export function mergedKey(parts: readonly Pick<PartFile, 'key'>[], number = 0): string {
  const keys = [...parts.map(({ key }) => key), ...(number === 0 ? [] : [`${number}`])]
  const folder = (keys[0] ?? '').replace(/[^/]*$/, '')
  const extension = folder.startsWith('quarantine/') ? quarantineExtension : 'parquet'
  return `${folder}${sha256(keys.join('\n')).slice(0, 20)}.${extension}`
}

/** Whether a key is that of a file that parts became. */
export function isMerged(key: string): boolean {
  return /\/[0-9a-f]{20}\.[a-z.]+$/.test(key)
}

/** The key of the object that lists the files of a scan. */
export function filesKey({ stream, scanId, fence }: Omit<PartPath, 'part'>): string {
  return `${scanPrefix({ stream, scanId })}files-${fence}.json`
}

/** Where the working objects of a scan lie. */
export function scanPrefix({ stream, scanId }: { stream: string; scanId: string }): string {
  return `index/${stream}/scan=${scanId}/`
}

/** The fence of the attempt that wrote an object: the number before its extension. */
function fenceOf(key: string): number {
  return Number(/-(\d+)\.[a-z.]+$/.exec(key)?.[1] ?? Number.NaN)
}

/** What the keys of a scan's files begin with, its quarantine included. */
export function scanPartitions(scan: ScanFootprint, stream: Stream): string[] {
  return [
    filePrefix({ ...scan, kind: 'quarantine', name: stream.name }),
    ...tablesOf(stream).map((table) => filePrefix({ ...scan, kind: 'changes', name: table.name })),
  ]
}

/** Whether one of the scan's attempts wrote an object. */
export function isOfAttempt(key: string, { fences }: Pick<ScanFootprint, 'fences'>): boolean {
  return fenceOf(key) >= fences.first && fenceOf(key) <= fences.last
}

type Orphaned = { scan: ScanFootprint; stream: Stream; files: readonly PartFile[] }

/** The keys that an attempt at the scan wrote and its files don't list. Other scans of the same run are left alone. */
export function orphansOf(keys: readonly string[], { scan, stream, files }: Orphaned): string[] {
  const prefixes = scanPartitions(scan, stream)
  const listed = new Set(files.map(({ key }) => key))
  const isOwn = (key: string) => prefixes.some((prefix) => key.startsWith(prefix)) && isOfAttempt(key, scan)
  return keys.filter((key) => !listed.has(key) && isOwn(key))
}

/** Part numbers as they stand in keys. */
export function padded(part: number): string {
  return String(part).padStart(5, '0')
}

/** The key of a run's manifest. */
export function manifestKey(runId: string): string {
  return `${runManifestPrefix}${runId}.json`
}

const manifestPrefix = 'manifests/'

/** What the keys of all manifests of runs begin with. */
export const runManifestPrefix = `${manifestPrefix}run=`

/** Where the lists of published files lie, one per month. */
export const fileListPrefix = `${manifestPrefix}month=`

/** The key of the list of what was published in a month, `2026-11`, or before there were lists. */
export function fileListKey(month: string): string {
  return `${fileListPrefix}${month}.ndjson`
}

/** Where the files of the table of runs lie, one per month. Engines skip folders whose names begin with `_`. */
export const runsPrefix = 'runs/'

/** The key of the rows of the runs that were due in a month, `2026-11`. */
export function runsKey(month: string): string {
  return `${runsPrefix}${month}.parquet`
}

/** A copy of the newest manifest. */
export const latestManifestKey = `${manifestPrefix}latest.json`

/** Where nightly pages lie. */
export const reportPrefix = 'reports/'

/** What the keys of the pages begin with that are kept for a term: those of a day. */
export const datedReportPrefix = `${reportPrefix}2`

/** The key of the page of a run, by the day on which it was due: known before there is a page. */
export function reportKey(scheduledAt: number): string {
  return `${reportPrefix}${utcDate(scheduledAt)}.html`
}

/** The newest page. */
export const latestReportKey = `${reportPrefix}latest.html`

/** Twelve hex digits that change when the name, the order or the type of a table's columns changes. */
export function schemaVersion(table: Table): string {
  return sha256(JSON.stringify(columnsOf(table).map(({ name, type }) => [name, type]))).slice(0, 12)
}
