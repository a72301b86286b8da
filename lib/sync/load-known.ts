import { messageOf } from '../core/errors.ts'
import type { Checkpoint, PartFile, Scan } from './checkpoint.ts'
import type { SyncDeps } from './context.ts'
import { createIndexReader, type StoredEntry } from './index-format.ts'
import { createKeyTable, type KeyTable, Kind } from './key-table.ts'
import type { ModeRules } from './modes.ts'
import { findLeftovers, makeUncertain, replayScan } from './replay.ts'

/** What is known of a stream when an attempt begins. */
export type Known = {
  table: KeyTable
  /** Digests of the page tokens that the pass in progress gave. */
  usedTokens: Set<string>
  /** Lake files that the scan in progress has written. */
  files: PartFile[]
  /** The index that was loaded, and how many keys it holds: the first of the table, in its order. */
  indexKey: string | null
  indexed: number
  /** How many live records were known when the scan began. */
  records: number
  /** Whether the index lists keys that an earlier, suspect scan missed. */
  hadMissing: boolean
  /** Whether dead attempts left keys uncertain: what the index says of them may not hold. */
  hadUncertain: boolean
  /** Whether the scan in progress met contents in bytes that the index does not know. */
  hadRenewed: boolean
  /** Whether there is no index to be read: then the keys come from the records table, without their content. */
  indexLost: boolean
  /** The scan in progress, if anything of it is durable and can be read. */
  continued: Scan | null
}

// A pass is one byte of the key table. A list that broke so often is better read anew.
const passesAllowed = 200

/** Loads what the last complete scan left, and on top of it what the scan in progress has seen. */
export async function loadKnown(
  checkpoint: Checkpoint,
  { deps, rules }: { deps: SyncDeps; rules: Rules },
  signal: AbortSignal,
): Promise<Known> {
  const { scan, stream } = checkpoint
  const loading = { stream, deps, rules, signal }
  const leftovers = await findLeftovers(checkpoint, deps)
  if (scan !== null && scan.segments.length > 0 && scan.pass < passesAllowed) {
    const known = await lastComplete(checkpoint, loading)
    if (await replayScan(scan, leftovers, { stream, deps, known })) {
      return counted({ ...known, continued: structuredClone(scan) })
    }
    deps.log.error('The parts of the scan in progress are unreadable; the scan begins anew.', {
      stream,
      scanId: scan.scanId,
    })
  }
  const known = await lastComplete(checkpoint, loading)
  await makeUncertain(leftovers, { stream, deps, known })
  return counted(known)
}

/**
 * What the last complete scan left: its index. When that was reset, or can't be read, the records table still tells
 * which keys live, though not what of them the lake has (docs/decisions/lost-index.md).
 */
async function lastComplete({ index, scansCompleted }: Checkpoint, loading: Loading): Promise<Known> {
  if (scansCompleted === 0) return nothingKnown(false)
  return (index && (await fromIndex(index, loading))) ?? (await withoutIndex(loading))
}

function nothingKnown(indexLost: boolean): Known {
  return {
    table: createKeyTable(),
    usedTokens: new Set(),
    files: [],
    indexKey: null,
    indexed: 0,
    records: 0,
    hadMissing: false,
    hadUncertain: false,
    hadRenewed: false,
    indexLost,
    continued: null,
  }
}

type Rules = Pick<ModeRules, 'hasCurrent'>
type Loading = { stream: string; deps: SyncDeps; rules: Rules; signal: AbortSignal }

/** Null when the index is missing or damaged. */
async function fromIndex(
  { key, entries }: NonNullable<Checkpoint['index']>,
  { stream, deps: { index: store, log }, signal }: Loading,
): Promise<Known | null> {
  const known: Known = { ...nothingKnown(false), table: createKeyTable(entries), records: entries }
  try {
    const chunks = await store.openIndex(key)
    if (chunks === null) throw new Error('it is missing')
    const reader = createIndexReader()
    for await (const chunk of chunks) for (const entry of reader.read(chunk)) load(entry, known)
    reader.end()
    return { ...known, indexKey: key, indexed: known.table.size }
  } catch (error) {
    if (isStorageTrouble(error)) throw error
    // Whoever took over removes the index that it replaced.
    signal.throwIfAborted()
    log.error('The index of a stream is unreadable.', { stream, key, reason: messageOf(error) })
    return null
  }
}

function load({ key, hash, bytes, changedAt, kind, isOdd }: StoredEntry, known: Known): void {
  const { table } = known
  const at = table.addBytes(key)
  table.setHash(at, hash)
  table.setBytes(at, bytes)
  table.setChangedAt(at, changedAt)
  table.mark(at, kind, 0)
  table.setOdd(at, isOdd)
  if (kind === Kind.missing) known.hadMissing = true
}

function isStorageTrouble(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code !== 'damaged_state'
}

function withoutIndex(loading: Loading): Known | Promise<Known> {
  const { stream, deps, rules } = loading
  if (rules.hasCurrent) return fromRecords(loading)
  deps.log.warn(
    'A stream of what happened has no index: what it reads once more of the last scan is written once more.',
    {
      stream,
    },
  )
  return nothingKnown(true)
}

/** Live keys without their content: a dead attempt may have written a record that the lake knows nothing of. */
async function fromRecords({ stream, deps: { records, log }, signal }: Loading): Promise<Known> {
  const known = nothingKnown(true)
  for await (const key of records.keys(stream, signal)) if (known.table.find(key) < 0) known.table.add(key)
  log.warn('A stream has no index: its keys were read from the records table, and every record is written anew.', {
    stream,
    keys: known.table.size,
  })
  return known
}

const ofNoRecordBefore = new Set<Kind>([Kind.inserted, Kind.mark])

/** Counts what was known when the scan began, if the index did not say: what the scan inserted meanwhile is no part. */
function counted(known: Known): Known {
  if (!known.indexLost) return known
  let records = 0
  for (let at = 0; at < known.table.size; at++) if (!ofNoRecordBefore.has(known.table.kind(at))) records += 1
  return { ...known, records }
}
