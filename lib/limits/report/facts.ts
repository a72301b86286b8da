import { utcDate } from '../../core/clock.ts'
import type { LimitOutcome } from '../../streams/limit-outcome.ts'
import type { LimitState } from '../limit-state.ts'
import { isFailure } from '../outcomes/outcome.ts'
import type { LedgerReader } from '../ports.ts'

/** A plan that waits for somebody's approval. */
export type WaitingPlan = { id: string; madeAt: string; changes: number; reasons: readonly string[] }

/** The sum of all known limits at the end of a day. */
export type SumPoint = { day: string; sum: number }

/** What a report on limits tells. Times are ISO 8601, UTC. */
export type LimitsFacts = {
  writtenAt: string
  /** The changes and refusals are those recorded since then. */
  since: string
  /** Everybody whose limit is known, by address; and how many there are of whom it is not. */
  people: readonly KnownLimit[]
  uncertain: number
  /** Confirmed by the platform, newest first. */
  changes: readonly LimitOutcome[]
  /** Entries that somebody should look at, newest first. */
  refused: readonly LimitOutcome[]
  waiting: readonly WaitingPlan[]
  sums: readonly SumPoint[]
}

/** Somebody whose limit is known. */
export type KnownLimit = LimitState & { limit: number }

const dayMs = 86_400_000

/** Reads what a report tells from the ledger: all that stands, and what was recorded from a time (Unix ms) until now. */
export async function readFacts(
  { since, now, waiting }: { since: number; now: number; waiting: readonly WaitingPlan[] },
  reader: Pick<LedgerReader, 'allStates' | 'outcomesBetween'>,
): Promise<LimitsFacts> {
  const people: KnownLimit[] = []
  let uncertain = 0
  for await (const state of reader.allStates()) {
    if (state.certain && state.limit !== null) people.push({ ...state, limit: state.limit })
    else if (state.limit !== null || state.status !== 'rejected') uncertain += 1
  }
  const changes: LimitOutcome[] = []
  const refused: LimitOutcome[] = []
  for await (const outcome of reader.outcomesBetween(since, now + 1)) {
    if (isFailure(outcome.outcome)) refused.push(outcome)
    else if (outcome.outcome === 'applied' && outcome.limit !== outcome.previousLimit) changes.push(outcome)
  }
  const newestFirst = (a: LimitOutcome, b: LimitOutcome) => (a.recordedAt < b.recordedAt ? 1 : -1)
  changes.sort(newestFirst)
  return {
    ...{ writtenAt: new Date(now).toISOString(), since: new Date(since).toISOString(), uncertain, waiting, changes },
    people: people.sort((a, b) => (a.identity < b.identity ? -1 : 1)),
    refused: refused.sort(newestFirst),
    sums: sumsOf(people, changes, { since, now }),
  }
}

/** The sum at the end of each day, from what stands now back through the changes, which are newest first. */
function sumsOf(
  people: readonly KnownLimit[],
  changes: readonly LimitOutcome[],
  { since, now }: { since: number; now: number },
): SumPoint[] {
  let sum = people.reduce((all, { limit }) => all + limit, 0)
  const points: SumPoint[] = []
  let next = 0
  for (let day = Math.floor(now / dayMs); day >= Math.floor(since / dayMs); day--) {
    const text = utcDate(day * dayMs)
    for (; next < changes.length && changes[next]!.recordedAt.slice(0, 10) > text; next++) {
      const { limit, previousLimit } = changes[next]!
      sum -= (limit ?? 0) - (previousLimit ?? 0)
    }
    points.unshift({ day: text, sum })
  }
  return points
}
