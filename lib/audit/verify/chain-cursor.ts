import type { Mark } from '../trail/head.ts'
import type { TrailReader } from '../trail/ports.ts'
import type { Series } from '../trail/sealed.ts'
import { missing, type Sight, type Walked, walkChain } from './walk.ts'

/** A chain that is read once, forwards, while what vouches for it is read beside it: nothing is held in memory. */
export type ChainCursor = {
  /** Reads to a mark and compares; `witness` is what vouches for the mark. */
  compare(mark: Mark, witness: string): Promise<void>
  /** Reads to the end; how many objects were found, and the last of them. */
  drain(): Promise<{ checked: number; last: Mark }>
}

/** A cursor over a chain. `seen` is told of every object. */
export function openChain(
  reader: TrailReader,
  series: Series,
  { keys, report, seen }: Sight & { seen?: (object: Walked) => void },
): ChainCursor {
  const walk = walkChain(reader, series, { keys, report })
  let checked = 0
  let last: Walked | null = null
  let ahead: Walked | null = null
  let ended = false
  let reportedUpTo = 0

  const peek = async (): Promise<Walked | null> => {
    if (ahead || ended) return ahead
    const next = await walk.next()
    if (next.done) ended = true
    else ahead = next.value
    return ahead
  }
  const take = (object: Walked) => {
    seen?.(object)
    checked += 1
    last = object
    ahead = null
  }
  const readTo = async (sequence: number) => {
    for (let next = await peek(); next && next.sequence <= sequence; next = await peek()) take(next)
  }

  const compare = async (mark: Mark, witness: string): Promise<void> => {
    if (mark.sequence === 0) return
    await readTo(mark.sequence)
    const found = last as Walked | null
    const reached = found?.sequence ?? 0
    if (reached > mark.sequence) {
      const message = `vouches for ${mark.sequence} objects, fewer than what vouches before it`
      report({ kind: 'contradicted', place: witness, message })
    } else if (reached < mark.sequence) {
      // A hole before a later object is reported by the walk.
      if (ended && mark.sequence > reportedUpTo)
        report(missing(series, Math.max(reached, reportedUpTo) + 1, mark.sequence))
      reportedUpTo = Math.max(reportedUpTo, mark.sequence)
    } else if (found && found.stated !== '' && found.stated === found.computed && found.stated !== mark.hash) {
      report({ kind: 'contradicted', place: found.key, message: `has not the hash that ${witness} vouches for` })
    }
  }

  const drain = async () => {
    await readTo(Number.POSITIVE_INFINITY)
    const end = last as Walked | null
    return { checked, last: { sequence: end?.sequence ?? 0, hash: end?.stated ?? '' } }
  }

  return { compare, drain }
}
