import type { LimitState, Sending } from '../ports.ts'

function stateOf(
  { identity, address, order, requestId, limit: wanted }: Sending,
  known: Pick<LimitState, 'status' | 'limit' | 'certain'>,
  now: number,
): LimitState {
  return {
    identity,
    address,
    order,
    requestId,
    wanted,
    ...known,
    changedAt: new Date(now).toISOString(),
  }
}

/**
 * The state of an address to which something was sent without a recorded answer: whatever the platform has now, the
 * newest intent stays the newest. A journal entry older than the state changes nothing but that it may have arrived.
 */
export function pendingState(sending: Sending, before: LimitState | undefined, now: number): LimitState {
  if (before && before.order > sending.order) return { ...before, certain: false }
  if (before && before.order === sending.order && before.status !== 'pending') return before
  return stateOf(sending, { status: 'pending', limit: before?.limit ?? null, certain: false }, now)
}

/** The state after the platform's answer. A refusal leaves what was; what is unaccounted for may be either. */
export function answeredState(
  sending: Sending,
  { before, status }: { before: LimitState | undefined; status: 'applied' | 'rejected' | 'unaccounted' },
  now: number,
): LimitState {
  if (status === 'applied') return stateOf(sending, { status, limit: sending.limit, certain: true }, now)
  const certain = status === 'rejected' && before?.certain === true
  return stateOf(sending, { status, limit: before?.limit ?? null, certain }, now)
}
