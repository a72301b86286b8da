import { messageOf } from '../core/errors.ts'
import type { Checkpoint, PartFile, Scan } from './checkpoint.ts'
import type { SyncDeps } from './context.ts'
import { decodeIndex, type PartHeader } from './index-format.ts'
import { type IndexEntry, type KeyTable, Kind } from './key-table.ts'
import type { PartObject } from './ports.ts'

/** What a replay adds to. */
type Known = {
  table: KeyTable
  usedTokens: Set<string>
  indexKey: string | null
  indexed: number
  files: PartFile[]
  hadUncertain: boolean
  hadRenewed: boolean
}

type Replaying = { stream: string; deps: SyncDeps; known: Known }

/**
 * The parts that attempts since the last complete scan wrote and no checkpoint took up, oldest first. Their records may
 * stand in the records table, or not. None, without asking, when this is the first attempt since then.
 */
export async function findLeftovers(checkpoint: Checkpoint, { index }: SyncDeps): Promise<PartObject[]> {
  const { stream, fence, scan, lastScan } = checkpoint
  const resolved = lastScan?.fences.last ?? 0
  if (fence === resolved + 1) return []
  const isTaken = takenBy(scan)
  const parts = await index.listParts(stream)
  return parts
    .filter((part) => part.fence > resolved && !isTaken(part))
    .sort((a, b) => a.fence - b.fence || a.part - b.part)
}

function takenBy(scan: Scan | null) {
  let end = 0
  const ranges = (scan?.segments ?? []).map(({ fence, parts }) => {
    const start = end
    end += parts
    return { fence, start, end }
  })
  return ({ scanId, part, fence }: PartObject): boolean =>
    scanId === scan?.scanId && ranges.some((range) => range.fence === fence && part >= range.start && part < range.end)
}

/** Replays what a scan's flushes saw, and makes uncertain what dead attempts between them left; false when a part is unreadable. */
export async function replayScan(scan: Scan, leftovers: PartObject[], replaying: Replaying): Promise<boolean> {
  const { stream, deps, known } = replaying
  const { scanId, runId, startedAt } = scan
  const waiting = [...leftovers]
  const olderThan = (fence: number) => waiting.splice(0, waiting.filter((left) => left.fence < fence).length)
  let part = 0
  for (const { fence, parts } of scan.segments) {
    await makeUncertain(olderThan(fence), replaying)
    for (const end = part + parts; part < end; part++) {
      const bytes = await deps.index.readPart({ stream, scanId, runId, startedAt, part, fence })
      if (bytes === null || !replay(bytes, scan, known)) return false
    }
  }
  await makeUncertain(waiting, replaying)
  return true
}

/** Forgets the content of each key that the parts say was written: whatever the list shows of it now is written again. */
export async function makeUncertain(parts: readonly PartObject[], { stream, deps, known }: Replaying): Promise<void> {
  for (const { key } of parts) {
    const bytes = await deps.index.readIndex(key)
    if (bytes === null) continue
    try {
      for (const entry of decodeIndex(bytes).entries) makeEntryUncertain(entry, known)
    } catch (error) {
      deps.log.warn('What a dead attempt left is unreadable.', { stream, key, reason: messageOf(error) })
    }
  }
}

const written = new Set<Kind>([Kind.inserted, Kind.updated, Kind.deleted])

function makeEntryUncertain({ key, kind, hash }: IndexEntry, known: Known) {
  if (!written.has(kind)) return
  const found = known.table.find(key)
  // It wrote what is known, or, as a repeat of what an earlier flush wrote, nothing.
  if (kind !== Kind.deleted && found >= 0 && known.table.hasHash(found, hash)) return
  known.hadUncertain = true
  if (found >= 0) known.table.clearHash(found)
  else known.table.mark(known.table.add(key), Kind.uncertain, 0)
}

/** Marks what came as the index has it; false when that is not the index which was loaded. */
function markSame({ index, same }: PartHeader, { table, indexKey, indexed }: Known): boolean {
  if (same.length > 0 && index !== indexKey) return false
  for (const [start, count, pass] of same) {
    if (start + count > indexed) return false
    for (let at = start; at < start + count; at++) table.mark(at, Kind.unchanged, pass)
  }
  return true
}

function replay(part: Uint8Array, scan: Scan, known: Known): boolean {
  const { table, usedTokens, files } = known
  try {
    const { header, entries } = decodeIndex(part)
    if (!markSame(header, known)) return false
    for (const { key, hash, bytes, changedAt, kind, isOdd, pass } of entries) {
      const found = table.find(key)
      const at = found < 0 ? table.add(key) : found
      if (Buffer.compare(table.bytes(at), bytes) !== 0) known.hadRenewed = true
      table.setHash(at, hash)
      table.setBytes(at, bytes)
      table.setChangedAt(at, changedAt)
      table.mark(at, kind, pass)
      table.setOdd(at, isOdd)
    }
    files.push(...header.files)
    // Tokens of an earlier pass may come again.
    if (header.pass === scan.pass) for (const token of header.tokens) usedTokens.add(token)
    return true
  } catch {
    return false
  }
}
