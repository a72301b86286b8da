import { messageOf } from '../core/errors.ts'
import type { SyncDeps } from './attempt.ts'
import type { Checkpoint } from './checkpoint.ts'
import { decodeIndex } from './index-format.ts'
import { createKeyTable, Kind } from './key-table.ts'
import type { Known } from './replay.ts'

/**
 * What the last complete scan left: its index. When that was reset, or can't be read, the records table still tells
 * which keys live, though not what of them the lake has (docs/decisions/lost-index.md).
 */
export async function loadKnown(checkpoint: Checkpoint, deps: SyncDeps, signal: AbortSignal): Promise<Known> {
  const { index, scansCompleted, stream } = checkpoint
  if (scansCompleted === 0) return nothingKnown(false)
  return (index && (await fromIndex(index, { stream, deps, signal }))) ?? (await fromRecords({ stream, deps, signal }))
}

function nothingKnown(indexLost: boolean): Known {
  return {
    table: createKeyTable(),
    usedTokens: new Set(),
    files: [],
    known: 0,
    hadMissing: false,
    hadDoubts: false,
    indexLost,
  }
}

type Loading = { stream: string; deps: SyncDeps; signal: AbortSignal }

/** Null when the index is missing or damaged. */
async function fromIndex(
  { key, entries }: NonNullable<Checkpoint['index']>,
  { stream, deps: { index: store, log }, signal }: Loading,
): Promise<Known | null> {
  const known = { ...nothingKnown(false), known: entries }
  try {
    const bytes = await store.readIndex(key)
    if (bytes === null) throw new Error('it is missing')
    for (const entry of decodeIndex(bytes).entries) {
      const at = known.table.add(entry.key)
      known.table.setHash(at, entry.hash)
      known.table.setChangedAt(at, entry.changedAt)
      known.table.mark(at, entry.kind, 0)
      if (entry.kind === Kind.missing) known.hadMissing = true
    }
    return known
  } catch (error) {
    if (isStorageTrouble(error)) throw error
    // Whoever took over removes the index that it replaced.
    signal.throwIfAborted()
    log.error('The index of a stream is unreadable.', { stream, key, reason: messageOf(error) })
    return null
  }
}

function isStorageTrouble(error: unknown) {
  return error instanceof Error && 'code' in error && error.code !== 'damaged_state'
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

/** Counts what was known when the scan began, if the index did not say: what the scan inserted meanwhile is no part. */
export function countKnown(known: Known): Known {
  if (!known.indexLost) return known
  let count = 0
  for (let at = 0; at < known.table.size; at++) if (known.table.kind(at) !== Kind.inserted) count += 1
  return { ...known, known: count }
}
