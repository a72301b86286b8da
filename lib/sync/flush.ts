import type { PartFile } from '../publish/manifest.ts'
import { type Cell, columnsOf, type Table } from '../streams/table.ts'
import type { Attempt } from './attempt.ts'
import { type Buffered, type Change, emptyBuffer } from './buffer.ts'
import type { Checkpoint, Scan, Segment } from './checkpoint.ts'
import { encodeIndex } from './index-format.ts'
import { type Entry, hashBytes } from './key-table.ts'
import type { CurrentRecord, PartPath, RowBatch } from './ports.ts'

/** Whether enough was read, or enough time has gone by, to write it. */
export function bufferIsFull({ buffer, deps: { settings, clock } }: Attempt): boolean {
  return (
    buffer.received >= settings.flushRecords ||
    buffer.bytes >= settings.flushBytes ||
    clock.now() - buffer.since >= settings.flushMs
  )
}

/**
 * Begins to write what was read, once the write before it is done, and lets the reading go on meanwhile. Rejects when
 * the write before it failed.
 */
export async function startFlush(attempt: Attempt): Promise<void> {
  await attempt.flushing
  const { buffer, deps, scan } = attempt
  const nextSegments = withOnePart(scan.segments, attempt.checkpoint.fence)
  // What is read from here on belongs to the next flush.
  const moved: Scan = structuredClone({ ...scan, segments: nextSegments })
  scan.segments = nextSegments
  attempt.buffer = emptyBuffer(deps.clock.now())
  attempt.flushing = flush(attempt, { buffer, moved, seen: entriesOf(attempt, buffer) })
  attempt.flushing.catch(() => {
    // Awaited by the next flush or by the end of the attempt.
  })
}

/** What a flush writes, as it stood when it began: the reading goes on and changes the key table meanwhile. */
type Flush = { buffer: Buffered; moved: Scan; seen: Entry[] }

/** Copies: an entry as it will be when the next page is taken in would call what is not durable known. */
function entriesOf({ table }: Attempt, { seen }: Buffered): Entry[] {
  // One piece of memory for all hashes: thousands of small ones are slow to make and to free.
  const hashes = new Uint8Array(seen.length * hashBytes)
  return seen.map((at, i) => {
    const entry = table.entry(at)
    hashes.set(entry.hash, i * hashBytes)
    return { ...entry, hash: hashes.subarray(i * hashBytes, (i + 1) * hashBytes) }
  })
}

/** The promise of the whole engine is the order here: everything is durable before the checkpoint moves. */
async function flush(attempt: Attempt, { buffer, moved, seen }: Flush): Promise<void> {
  const { deps, lease, slowest, stream } = attempt
  const began = deps.clock.now()
  const path = partPath(attempt, partsOf(moved) - 1)

  const records = [...buffer.changes.values()].map(({ key, hash, body }) => ({ key, hash, body }))
  const files = await writeLake(attempt, buffer, path)
  // The records as objects are several times their text, and writing them to the table takes longest.
  buffer.changes.clear()
  const header = { pass: moved.pass, tokens: buffer.tokens, files }
  await deps.index.writePart(path, encodeIndex(header, { count: seen.length, each: () => seen }), lease.signal)
  // Last, since the part tells the next attempt which records this one may have written, should it die here.
  await writeRecords(attempt, records, buffer.deletes)
  if (buffer.observed.length > 0) await attempt.observer?.flushed(buffer.observed, moved, lease.signal)

  const checkpoint = { ...attempt.checkpoint, scan: moved, ...atWork(attempt) }
  const expiresAt = lease.proposal()
  await deps.checkpoints.save(checkpoint, { owner: lease.owner, expiresAt })
  lease.extend(expiresAt)

  attempt.checkpoint = checkpoint
  attempt.files.push(...files)
  slowest.flushMs = Math.max(slowest.flushMs, deps.clock.now() - began)
  deps.log.debug('Flushed.', { stream: stream.name, part: path.part, received: buffer.received })
}

// The status of the scan before must not pass for this one's if the attempt dies.
function atWork({ run, deps }: Attempt): Pick<Checkpoint, 'status' | 'reason' | 'statusAt' | 'runId'> {
  return {
    status: 'running',
    reason: null,
    statusAt: deps.clock.now(),
    runId: run.runId,
  }
}

function withOnePart(segments: Segment[], fence: number): Segment[] {
  const last = segments.at(-1)
  return last?.fence === fence
    ? [...segments.slice(0, -1), { fence, parts: last.parts + 1 }]
    : [...segments, { fence, parts: 1 }]
}

/** How many parts a scan has flushed. */
export function partsOf({ segments }: Pick<Scan, 'segments'>): number {
  return segments.reduce((sum, { parts }) => sum + parts, 0)
}

/** Where a part of the attempt's scan lies. */
export function partPath({ stream, scan, checkpoint }: Attempt, part: number): PartPath {
  return {
    stream: stream.name,
    scanId: scan.scanId,
    runId: scan.runId,
    startedAt: scan.startedAt,
    part,
    fence: checkpoint.fence,
  }
}

async function writeLake(attempt: Attempt, buffer: Buffered, path: PartPath): Promise<PartFile[]> {
  const { deps, stream, lease } = attempt
  const files: PartFile[] = []
  for (const batch of rowBatches(attempt, buffer, path.part)) {
    files.push(await deps.lake.writeRows(path, batch, lease.signal))
  }
  if (buffer.quarantined.length > 0) {
    files.push(await deps.lake.writeQuarantine(path, buffer.quarantined, lease.signal))
    deps.log.warn('Records were quarantined.', { stream: stream.name, records: buffer.quarantined.length })
  }
  return files
}

async function writeRecords(
  { deps, stream, lease, scan, checkpoint }: Attempt,
  records: CurrentRecord[],
  deletes: string[],
) {
  const { signal } = lease
  if (records.length > 0) {
    const mayExist = checkpoint.scansCompleted > 0
    await deps.records.put({ stream: stream.name, records, changedAt: scan.startedAt, mayExist, signal })
  }
  if (deletes.length > 0) {
    await deps.records.tombstone({ stream: stream.name, keys: deletes, deletedAt: scan.startedAt, signal })
  }
}

/** The rows of a flush, table by table; a table without rows is left out. */
function* rowBatches({ stream, scan }: Attempt, buffer: Buffered, part: number): Iterable<RowBatch> {
  for (const table of stream.tables as readonly Table[]) {
    const columns: Cell[][] = columnsOf(table).map(() => [])
    const meta = (op: 'upsert' | 'delete', change: Change | null): Cell[] => [
      op,
      scan.runId,
      scan.scanId,
      part,
      scan.startedAt,
      change?.hash ?? null,
      change?.extra ? JSON.stringify(change.extra) : null,
    ]
    for (const change of buffer.changes.values()) {
      for (const cells of table.rows(change.record as never)) append(columns, [...cells, ...meta('upsert', change)])
    }
    if (table === (stream.tables[0] as unknown)) {
      for (const key of buffer.deletes) append(columns, [...deletedRow(table, key), ...meta('delete', null)])
    }
    const rows = columns[0]?.length ?? 0
    if (rows > 0) yield { table, columns, rows }
  }
}

function append(columns: Cell[][], cells: Cell[]) {
  for (let i = 0; i < columns.length; i++) (columns[i] as Cell[]).push(cells[i] as Cell)
}

/** A delete keeps the key and nothing else. */
function deletedRow(table: Table, key: string): Cell[] {
  return table.columns.map(({ name, type }) =>
    table.key.includes(name) ? (type === 'int64' ? Number(key) : key) : null,
  )
}
