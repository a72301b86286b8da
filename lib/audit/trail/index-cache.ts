import type { Marks } from './head.ts'
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
} from './revision-index.ts'
import { unseal } from './sealed.ts'
import type { Trail } from './trail.ts'

/** The index of recorded revisions, kept level with the head. */
export type IndexCache = {
  /** The index as of these marks. Loaded once, then only what was appended since is read. */
  at(marks: Marks): Promise<RevisionIndex>
  /** Says that the caller changed it, so that it is saved though nothing was appended. */
  touch(): void
  /** Keeps it for the next attempt, when it knows more than what is stored. */
  save(signal: AbortSignal): Promise<void>
}

const indexKey = 'index/audit/revisions.json.zst'
const readsAtOnce = 32

/** An index cache over a trail. */
export function createIndexCache({ trail, work }: { trail: Trail; work: WorkStore }): IndexCache {
  let index: RevisionIndex | null = null
  let saved = ''

  const at = async (marks: Marks): Promise<RevisionIndex> => {
    if (!index) {
      const bytes = await work.get(indexKey)
      index = (bytes && decodeRevisionIndex(bytes)) ?? emptyIndex()
      saved = standOf(index)
    }
    if (!isBehind(index, marks)) index = emptyIndex()
    await readOn(index, marks, trail)
    return index
  }

  const save = async (signal: AbortSignal): Promise<void> => {
    if (!index || standOf(index) === saved) return
    await work.put(indexKey, encodeRevisionIndex(index), { signal })
    saved = standOf(index)
  }

  const touch = () => {
    saved = ''
  }

  return { at, touch, save }
}

function standOf({ entries, findings }: RevisionIndex) {
  return `${entries.hash} ${findings.hash}`
}

/**
 * An object that is missing or altered is left out: its revision is then recorded anew, and the verifier says what is
 * wrong. Recording must not end because evidence was damaged.
 */
async function readOn(index: RevisionIndex, marks: Marks, trail: Trail): Promise<void> {
  for (const series of ['entries', 'findings'] as const) {
    const sequences = range(index[series].sequence + 1, marks[series].sequence)
    for await (const { value: bytes } of readAhead(sequences, readsAtOnce, (at) => trail.read(series, at))) {
      const object = bytes && unseal(bytes)
      if (object) (series === 'entries' ? indexEntry : indexFinding)(index, object.value)
    }
    index[series] = marks[series]
  }
}
