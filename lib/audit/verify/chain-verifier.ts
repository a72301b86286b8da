import type { ChainHead } from '../trail/head.ts'
import type { TrailReader } from '../trail/ports.ts'
import type { ChainName } from '../trail/sealed.ts'
import { type ChainObject, missing, type WalkOptions, walkChain } from './walk.ts'

/** Verifies a chain that is read once, forwards, while what vouches for it is read beside it: nothing is held in memory. */
export type ChainVerifier = {
  /** Reads to a head and compares; `witness` is what vouches for the head. */
  verifyUpTo(head: ChainHead, witness: string): Promise<void>
  /** Reads to the end. */
  finish(): Promise<CheckedChain>
}

/** The number of objects of a chain that were checked, and the last of them. */
export type CheckedChain = { checked: number; last: ChainHead }

/** A verifier of a chain. */
export function createChainVerifier(
  reader: TrailReader,
  chain: ChainName,
  { keys, report }: WalkOptions,
): ChainVerifier {
  const walk = walkChain(reader, chain, { keys, report })
  let checked = 0
  let last: ChainObject | null = null
  let ahead: ChainObject | null = null
  let ended = false
  let reportedUpTo = 0

  const peek = async (): Promise<ChainObject | null> => {
    if (ahead || ended) return ahead
    const next = await walk.next()
    if (next.done) ended = true
    else ahead = next.value
    return ahead
  }
  const take = (object: ChainObject) => {
    checked += 1
    last = object
    ahead = null
  }
  const readTo = async (sequence: number) => {
    for (let next = await peek(); next && next.sequence <= sequence; next = await peek()) take(next)
  }

  const verifyUpTo = async (head: ChainHead, witness: string): Promise<void> => {
    if (head.sequence === 0) return
    await readTo(head.sequence)
    const found = last as ChainObject | null
    const reached = found?.sequence ?? 0
    if (reached > head.sequence) {
      const message = `vouches for ${head.sequence} objects, fewer than what vouches before it`
      report({ kind: 'contradicted', place: witness, message })
    } else if (reached < head.sequence) {
      // A gap before a later object is reported by the walk.
      if (ended && head.sequence > reportedUpTo)
        report(missing(chain, Math.max(reached, reportedUpTo) + 1, head.sequence))
      reportedUpTo = Math.max(reportedUpTo, head.sequence)
    } else if (found && isSound(found) && found.stated !== head.hash) {
      report({ kind: 'contradicted', place: found.key, message: `has not the hash that ${witness} vouches for` })
    }
  }

  const finish = async () => {
    await readTo(Number.POSITIVE_INFINITY)
    const end = last as ChainObject | null
    return { checked, last: { sequence: end?.sequence ?? 0, hash: end?.stated ?? '' } }
  }

  return { verifyUpTo, finish }
}

/** What is altered or misplaced is reported as such, and says nothing else. */
function isSound({ stated, computed, misplaced }: ChainObject): boolean {
  return stated !== '' && stated === computed && !misplaced
}
