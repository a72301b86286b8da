/** A wait that some worker was told, as all can read it. Its times are those of the clock that wrote it. */
export type SharedWait = {
  /** Grows with each wait, so that a reader knows one that it has seen. */
  readonly serial: number
  readonly from: number
  readonly ms: number
  readonly inARow: WaitsInARow
}

/** By list: how many waits it was told one after the other, with no answer between them. */
export type WaitsInARow = Readonly<Record<string, number>>

/** How old a worker's knowledge of others' waits may be when it sends a request. */
export const freshMs = 2_000

/** A wait beyond this is its stream's own: no rate limit has a longer window, so that it is about something else. */
export const longestSharedMs = 3_600_000

/** A list that gets nothing but waits, more than this in a row, is refused for itself: the key was let through elsewhere. */
export const mostInARow = 2

/** Where a request's answers come from: one name for the lists of all sessions (§4, the only paths with an id). */
export function listOf(path: string): string {
  return path.replace(/(\/sessions\/)[^/]+/, '$1*')
}

/**
 * A reader's view of a wait, on its own clock: when it ends as far as the clocks agree, until when this reader holds still
 * to be on the safe side, and until when others surely do.
 */
export type Held = { endsAt: number; holdUntil: number; coveredUntil: number }

/** When a wait is read, and when this reader looked before: it is no older than that. Null: it never did. */
type Reading = { now: number; lookedAt: number | null; budgetNow: number }

/**
 * Reads a wait that this worker has not seen. How much of it has passed is told by the clock, but never more than the time since the
 * last look, which no difference of clocks can falsify; and two seconds less than that, so that nobody is early.
 */
export function heldBy({ from, ms }: SharedWait, { now, lookedAt, budgetNow }: Reading): Held {
  const sinceLook = lookedAt === null ? Number.POSITIVE_INFINITY : now - lookedAt
  const byClock = Math.max(0, budgetNow - from)
  const passed = Math.min(byClock, sinceLook)
  const mostPassed = lookedAt === null ? byClock : sinceLook
  return {
    endsAt: now + ms - passed,
    holdUntil: now + ms - Math.max(0, passed - freshMs),
    coveredUntil: now + ms - mostPassed,
  }
}
