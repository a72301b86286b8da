/** Requests that a worker drew at once from the budget that all share: tokens at even distances, from a moment on. */
export type Slice = {
  readonly startsAt: number
  readonly tokens: number
  readonly spacingMs: number
  /** Until when its tokens may be used. */
  readonly endsAt: number
  taken: number
}

/** The time that a slice is meant for: a worker draws once in it at most. */
export const sliceMs = 1_000

/** What a worker draws first: a small stream needs no more, and a large one has twice as many a second later. */
export const firstSize = 10

/** A slice may begin so long before its turn: who asks for less than the rate needs not queue because others drew just now. */
export const leadMs = sliceMs

/** The most tokens of a slice: what all together may send in its time, and always one. */
export function mostTokens(requestsPerSecond: number): number {
  return Math.max(1, Math.floor((requestsPerSecond * sliceMs) / 1000))
}

/** How long a budget of so many requests a second is used up by so many tokens; whole milliseconds, so that it counts exactly. */
export function lengthOf(tokens: number, requestsPerSecond: number): number {
  return Math.ceil((tokens * 1000) / requestsPerSecond)
}

/** A slice of `tokens` that take up `lengthMs` from `startsAt` on. What is not used a while after its turn is lost. */
export function sliceOf(startsAt: number, { tokens, lengthMs }: { tokens: number; lengthMs: number }): Slice {
  const spacingMs = lengthMs / tokens
  return { startsAt, tokens, spacingMs, endsAt: startsAt + Math.max(sliceMs, lengthMs), taken: 0 }
}

/** Takes the next token out of a slice and answers the moment from which it counts; null when nothing is left of it. */
export function takeToken(slice: Slice, now: number): number | null {
  if (slice.taken >= slice.tokens || now > slice.endsAt) return null
  const at = Math.ceil(slice.startsAt + slice.taken * slice.spacingMs)
  slice.taken += 1
  return at
}

/** How the last slice went, and who waits for the next one. */
export type Demand = {
  size: number
  /** Its tokens that were taken; undefined before the first slice. */
  used: number | undefined
  /** How long the slice had to wait for its turn: long when many workers draw. */
  queuedMs: number
  /** Requests of this worker that wait right now. */
  waiting: number
  most: number
}

/** From here on a queue is so long that a slice should be smaller, so that each worker has its turn soon. */
const longQueueMs = 5_000

/**
 * The size of the next slice: what this worker can use in a second. It grows twofold while nobody has to queue, and a
 * slice that was not used up is followed by one as large as what was used, so that little is drawn in vain.
 */
export function nextSize({ size, used, queuedMs, waiting, most }: Demand): number {
  const own = used === undefined ? size : used < size ? used : grown(size, queuedMs)
  const wanted = Math.max(waiting, own)
  return Math.min(most, Math.max(1, wanted))
}

function grown(size: number, queuedMs: number): number {
  if (queuedMs > longQueueMs) return Math.ceil(size / 2)
  return queuedMs < sliceMs ? size * 2 : size
}
