import { type LimitOrigin, originOf } from '../streams/limit-outcome.ts'
import type { ValidLimitEntry } from './entries.ts'

/**
 * The ledger's knowledge of one address. Its origin is that of the newest intent, or of the one before where the platform
 * refused that: what stands, or may stand.
 */
export type LimitState = LimitOrigin & {
  identity: string
  /** The spelling last sent. */
  address: string
  /** The newest intent: an older one is never sent again. */
  order: string
  requestId: string
  /** The limit that the newest intent asked for. */
  wanted: number
  /** The way in which it ended; `pending`: it was sent, and no answer is recorded. */
  status: 'pending' | 'applied' | 'rejected' | 'unaccounted'
  /** The last limit that the platform confirmed, or null. */
  limit: number | null
  /** True when nothing unanswered was sent since then, so that `limit` is what the platform has. */
  certain: boolean
  /** ISO 8601, UTC. */
  changedAt: string
}

/** A limit on its way to the platform. */
export type OutgoingLimit = Pick<LimitState, 'identity' | 'address' | 'order' | 'requestId'> &
  LimitOrigin & { limit: number }

/** The limit to send for an entry. */
export function outgoingOf({ identity, address, order, request, limit, origin }: ValidLimitEntry): OutgoingLimit {
  return { identity, address, order, requestId: request.requestId, limit, ...originOf({ ...request, ...origin }) }
}

/** The limit to send once more for an address: its newest one. */
export function newestOf(state: LimitState): OutgoingLimit {
  const { identity, address, order, requestId, wanted } = state
  return { identity, address, order, requestId, limit: wanted, ...originOf(state) }
}

/**
 * The state of an address to which something was sent without a recorded answer: whatever the platform has now, the
 * newest intent stays the newest. A journal entry older than the state changes nothing but that it may have arrived.
 */
export function pendingState(outgoing: OutgoingLimit, before: LimitState | undefined, now: number): LimitState {
  if (before && before.order > outgoing.order) return asUncertain(before)
  if (before && before.order === outgoing.order && before.status !== 'pending') return before
  return stateOf(outgoing, { status: 'pending', limit: before?.limit ?? null, certain: false }, now)
}

/** The state after the platform's answer. A refusal leaves what was; what is unaccounted for may be either. */
export function answeredState(
  outgoing: OutgoingLimit,
  { before, status }: { before: LimitState | undefined; status: 'applied' | 'rejected' | 'unaccounted' },
  now: number,
): LimitState {
  if (status === 'applied') return stateOf(outgoing, { status, limit: outgoing.limit, certain: true }, now)
  const certain = status === 'rejected' && before?.certain === true
  const known = { status, limit: before?.limit ?? null, certain }
  const origin = originOf(status === 'rejected' ? (before ?? {}) : outgoing)
  const { identity, address, order, requestId, limit } = outgoing
  return stateOf({ identity, address, order, requestId, limit, ...origin }, known, now)
}

/** The state of an address whose limit may have been overwritten by an older one. */
export function asUncertain(state: LimitState): LimitState {
  return { ...state, certain: false }
}

function stateOf(
  outgoing: OutgoingLimit,
  known: Pick<LimitState, 'status' | 'limit' | 'certain'>,
  now: number,
): LimitState {
  const { identity, address, order, requestId, limit: wanted } = outgoing
  const changedAt = new Date(now).toISOString()
  return { identity, address, order, requestId, wanted, ...known, changedAt, ...originOf(outgoing) }
}
