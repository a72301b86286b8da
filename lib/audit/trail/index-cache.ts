import type { ChainHeads } from './head.ts'
import type { WorkStore } from './ports.ts'
import { range, readAhead } from './read-ahead.ts'
import {
  decodeRevisionIndex,
  emptyIndex,
  encodeRevisionIndex,
  indexEntry,
  indexFinding,
  isBehind,
  type RevisionIndex,
  revisionIndexKey,
} from './revision-index.ts'
import { unseal } from './sealed.ts'
import type { Trail } from './trail.ts'

/** The index of recorded revisions, kept level with the head. */
export type IndexCache = {
  /** Brings the index up to these heads. It is loaded once; then only what was appended since is read. */
  at(heads: ChainHeads): Promise<RevisionIndex>
  /** Notes that the caller changed it, so that it is saved though nothing was appended. */
  touch(): void
  /** Keeps it for the next attempt, when it knows more than what is stored. */
  save(signal: AbortSignal): Promise<void>
}

type Reads = Pick<Trail, 'read'>

const readsAtOnce = 32

/** An index cache over a trail. */
export function createIndexCache({ trail, work }: { trail: Reads; work: Pick<WorkStore, 'get' | 'put'> }): IndexCache {
  let index: RevisionIndex | null = null
  let saved = ''

  const at = async (heads: ChainHeads): Promise<RevisionIndex> => {
    if (!index) {
      const bytes = await work.get(revisionIndexKey)
      index = (bytes && decodeRevisionIndex(bytes)) ?? emptyIndex()
      saved = versionOf(index)
    }
    if (!isBehind(index, heads)) index = emptyIndex()
    await readOn(index, heads, trail)
    return index
  }

  const save = async (signal: AbortSignal): Promise<void> => {
    if (!index || versionOf(index) === saved) return
    await work.put(revisionIndexKey, encodeRevisionIndex(index), { signal })
    saved = versionOf(index)
  }

  const touch = () => {
    saved = ''
  }

  return { at, touch, save }
}

function versionOf({ entries, findings }: RevisionIndex) {
  return `${entries.hash} ${findings.hash}`
}

/**
 * Takes in what was appended. An object that is missing or altered is left out: its revision is then recorded anew, and
 * the verifier says what is wrong. Recording must not end because evidence was damaged.
 */
async function readOn(index: RevisionIndex, heads: ChainHeads, trail: Reads): Promise<void> {
  for (const chain of ['entries', 'findings'] as const) {
    const sequences = range(index[chain].sequence + 1, heads[chain].sequence)
    for await (const { value: bytes } of readAhead(sequences, readsAtOnce, (at) => trail.read(chain, at))) {
      const object = bytes && unseal(bytes)
      if (object) (chain === 'entries' ? indexEntry : indexFinding)(index, object.value)
    }
    index[chain] = heads[chain]
  }
}
