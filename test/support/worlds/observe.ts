import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { Manifest, PublishedFile } from '../../../lib/publish/manifest.ts'
import type { Stream } from '../../../lib/streams/stream.ts'
import { decodeIndex } from '../../../lib/sync/index-format.ts'
import { type AuditView, auditViewOf } from './observe-audit.ts'
import { type TablesView, tablesViewOf } from './observe-tables.ts'
import { filesIn, type Rows, readLake } from './read-lake.ts'
import type { Contents, Item } from './storage.ts'

/** What a reader of a world can tell, without what depends on when and in how many attempts it came about. */
export type View = {
  records: Record<string, unknown>
  checkpoints: Record<string, unknown>
  leftInState: string[]
  runs: unknown[]
  manifests: unknown[]
  latest: string | null
  rows: Record<string, string[]>
  current: Record<string, string[]>
  quarantine: string[]
  tables: TablesView
  index: Record<string, unknown[]>
  /** Objects that nothing speaks of. */
  orphans: string[]
  /** Files that either the manifests or the lists of months know, and not both. */
  unlisted: string[]
  bodies: string[]
  audit: AuditView | null
  /** What observers said of any run. What was not settled when a process died may be said twice. */
  notices: string[]
}

/** Reads worlds; `close` when done. */
export type Observer = {
  view(world: { contents: Contents; now: number }, streams: readonly Stream[]): Promise<View>
  close(): void
}

/** Times of one day are one: what a day is to a world is written in its times, minutes are not. */
function dayOf(unixMs: number) {
  return new Date(unixMs).toISOString().slice(0, 10)
}

/** An observer that reads Parquet with DuckDB. */
export async function createObserver(): Promise<Observer> {
  const dir = mkdtempSync(join(tmpdir(), 'worlds-'))
  const duckdb = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
  const read = new Map<string, Rows>()
  let files = 0
  const fileOf = (body: Buffer) => {
    files += 1
    const path = join(dir, `${files}.parquet`)
    writeFileSync(path, body)
    return path
  }
  return {
    view: async ({ contents, now }, streams) => {
      const published = publishedIn(contents)
      const lake = await readLake(published, { streams, duckdb, contents, fileOf, read })
      return {
        ...lake,
        ...stateOf(contents, now),
        audit: await auditViewOf(contents),
        tables: await tablesViewOf(contents, streams),
        records: Object.fromEntries(contents.records.map(recordOf).sort(byKey)),
        manifests: published.map(({ runId, scans }) => ({
          runId,
          scans: scans.map(({ stream, status, records, counts }) => ({
            stream,
            status,
            records,
            counts: exact(counts),
          })),
        })),
        latest: latestOf(contents),
        index: indexesOf(contents),
        orphans: orphansIn(contents, published),
        unlisted: unlistedIn(contents, published),
        bodies: [...contents.objects.keys()].filter((key) => key.startsWith('bodies/')),
      }
    },
    close: () => {
      duckdb.closeSync()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function byKey([a]: [string, unknown], [b]: [string, unknown]) {
  return a < b ? -1 : 1
}

/** A request that is sent again after a death is one more. */
function exact({ apiCalls: _, ...counts }: { apiCalls?: number; [name: string]: unknown }) {
  return counts
}

function recordOf(item: Item): [string, unknown] {
  const time = (name: string) => (item[name]?.N === undefined ? null : dayOf(Number(item[name].N)))
  return [
    item.pk?.S ?? '',
    {
      hash: item.hash?.S,
      body: item.body?.S ?? item.bodyKey?.S,
      firstSeenAt: time('firstSeenAt'),
      changedAt: time('changedAt'),
      deletedAt: time('deletedAt'),
    },
  ]
}

type State = {
  scan: unknown
  status: string
  reason: string | null
  runId: string
  scansCompleted: number
  index: { key: string; entries: number } | null
  lastScan: { counts: Record<string, number>; records: number; withheldDeletes: number } | null
  pending?: unknown
}

type RanStream = {
  counts: Record<string, number> | null
  ofRun?: Record<string, number> | null
  notices?: unknown[]
  standing?: unknown
  [field: string]: unknown
}

function stateOf({ state }: Contents, now: number): Pick<View, 'checkpoints' | 'leftInState' | 'runs' | 'notices'> {
  const checkpoints: [string, unknown][] = []
  const leftInState: string[] = []
  const runs: unknown[] = []
  const said = new Set<string>()
  for (const item of state) {
    const name = `${item.pk?.S} ${item.sk?.S}`
    if (item.leaseOwner && Number(item.leaseExpiresAt?.N) > now) leftInState.push(`${name} is held`)
    if (Object.keys(item.unpublished?.M ?? {}).length > 0) leftInState.push(`${name} waits for publish`)
    if (item.record) {
      const { finishedAt: _, streams, ...run } = JSON.parse(item.record.S as string)
      runs.push({
        ...run,
        streams: streams.map(({ counts, ofRun, notices = [], standing: _, ...rest }: RanStream) => {
          for (const remark of notices) said.add(JSON.stringify(remark))
          return { ...rest, counts: counts && exact(counts), ofRun: ofRun && exact(ofRun) }
        }),
      })
    } else if (item.state) {
      const parsed = JSON.parse(item.state.S as string) as State
      if (parsed.pending) leftInState.push(`${name} has a pending publication`)
      const { status, reason, runId, scan, scansCompleted, index, lastScan } = parsed
      const last = lastScan && {
        ...exact(lastScan.counts),
        records: lastScan.records,
        withheld: lastScan.withheldDeletes,
      }
      checkpoints.push([name, { status, reason, runId, scan, scansCompleted, entries: index?.entries, last }])
    }
  }
  return { checkpoints: Object.fromEntries(checkpoints.sort(byKey)), leftInState, runs, notices: [...said].sort() }
}

function publishedIn({ objects }: Contents): Manifest[] {
  return [...objects]
    .filter(([key]) => key.startsWith('manifests/run='))
    .sort(byKey)
    .map(([, body]) => Manifest.parse(JSON.parse(body.toString())))
}

function unlistedIn({ objects }: Contents, manifests: Manifest[]): string[] {
  const lines = [...objects]
    .filter(([key]) => key.startsWith('manifests/month='))
    .flatMap(([, body]) => body.toString().trimEnd().split('\n'))
  const listed = lines.map((line) => PublishedFile.parse(JSON.parse(line)).key)
  const known = filesIn(manifests).map(({ key }) => key)
  const twice = listed.filter((key, at) => listed.indexOf(key) !== at)
  return [...twice, ...new Set(listed).symmetricDifference(new Set(known))]
}

function latestOf({ objects }: Contents): string | null {
  const body = objects.get('manifests/latest.json')
  return body ? Manifest.parse(JSON.parse(body.toString())).runId : null
}

function indexesOf({ objects }: Contents): View['index'] {
  const found: View['index'] = {}
  for (const [key, body] of objects) {
    const stream = /^index\/(\w+)\/index-/.exec(key)?.[1]
    if (!stream) continue
    const entries = [...decodeIndex(zstdDecompressSync(body)).entries].map(({ hash, changedAt, ...entry }) => ({
      ...entry,
      changedAt: Number.isNaN(changedAt) ? null : changedAt,
      hash: Buffer.from(hash).toString('hex'),
    }))
    found[stream] = entries.sort((a, b) => (a.key < b.key ? -1 : 1))
  }
  return found
}

function orphansIn({ objects, state }: Contents, manifests: Manifest[]): string[] {
  const known = new Set(filesIn(manifests).map(({ key }) => key))
  for (const item of state) {
    const index = item.state && (JSON.parse(item.state.S as string) as State).index
    if (index) known.add(index.key)
  }
  // What a dead publisher wrote for a table lies there for a day, since it might not be dead.
  const others = /^(manifests|bodies|audit|iceberg|runs|hooks)\//
  return [...objects.keys()].filter(
    (key) => !known.has(key) && !others.test(key) && key !== 'index/audit/revisions.json.zst',
  )
}
