import type { Clock } from '../../core/clock.ts'
import { slices } from '../../core/concurrency.ts'
import type { Deadline } from '../../core/deadline.ts'
import { maxEntries } from '../intent.ts'
import { type OutgoingLimit, pendingState } from '../limit-state.ts'
import type { Ledger, LedgerLease, LimitsApi } from '../ports.ts'
import type { GroupSize } from './send-group.ts'

/** Dependencies of a session on the ledger. */
export type LedgerSessionDeps = {
  api: LimitsApi
  ledger: Ledger
  clock: Clock
  deadline: Deadline
  /** Makes a name for a worker, never the same twice. */
  newOwner: () => string
  /** PUTs that are under way at the same time; 4 unless said otherwise. They hold different addresses, so that order is safe. */
  putsAtOnce?: number
}

/** One worker at work on the ledger. */
export type LedgerSession = {
  api: LimitsApi
  ledger: Ledger
  clock: Clock
  lease: LedgerLease
  /** Ends well before the lease does. */
  deadline: Deadline
  putsAtOnce: number
  groupSize: GroupSize
  /** Names the calls of this session, over all sessions uniquely. */
  nextCallId: () => string
}

const minuteMs = 60_000
/** The longest that a worker may be at it; a Lambda function lives no longer. */
const maxWorkMs = 15 * minuteMs
/** Time by which the lease outlasts the worker's own: it is dead, or stopped, before anybody follows it. */
const graceMs = 30_000

/**
 * Takes the ledger for this worker. What a dead predecessor was about to send is pending from here on: it may have
 * reached the platform, so that nothing older may follow it, and no plan may take the old limit for the present one.
 */
export async function openLedgerSession(
  deps: LedgerSessionDeps,
): Promise<LedgerSession | { heldBy: string; until: number }> {
  const { api, ledger, clock, putsAtOnce = 4 } = deps
  const owner = deps.newOwner()
  const now = clock.now()
  const workMs = Math.min(Math.max(0, deps.deadline.remainingMs()), maxWorkMs)
  const expiresAt = now + workMs + graceMs
  const opened = await ledger.open({ owner, now, expiresAt })
  if ('heldBy' in opened) return opened
  const remainingMs = () => Math.min(deps.deadline.remainingMs(), expiresAt - graceMs - clock.now())
  let calls = 0
  const nextCallId = () => `${String(opened.fence).padStart(6, '0')}-${String(++calls).padStart(3, '0')}`
  const session: LedgerSession = {
    ...{ api, ledger, clock, putsAtOnce, nextCallId },
    groupSize: { most: maxEntries },
    lease: { owner, fence: opened.fence, expiresAt },
    deadline: { remainingMs },
  }
  await recordJournal(opened.journal, session)
  return session
}

async function recordJournal(journal: OutgoingLimit[], session: LedgerSession): Promise<void> {
  for (const some of slices(journal, maxEntries)) {
    const states = await session.ledger.states(some.map(({ identity }) => identity))
    await recordPending(some, states, session)
  }
}

/** Makes addresses pending to which something was sent without an answer. */
export function recordPending(
  unanswered: readonly OutgoingLimit[],
  states: Awaited<ReturnType<Ledger['states']>>,
  { ledger, clock, nextCallId }: LedgerSession,
): Promise<void> {
  const now = clock.now()
  const pending = unanswered.map((outgoing) => pendingState(outgoing, states.get(outgoing.identity), now))
  return ledger.record({ outcomes: [], states: pending, recordedAt: now, callId: nextCallId() })
}
