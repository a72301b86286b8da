import type { Clock } from '../../core/clock.ts'
import { slices } from '../../core/concurrency.ts'
import type { Deadline } from '../../core/deadline.ts'
import { maxEntries } from '../intent.ts'
import type { Ledger, LedgerLease, LimitsApi, Sending } from '../ports.ts'
import type { ApplyDeps } from './apply.ts'
import { pendingState } from './states.ts'

/** One worker at work on the ledger. */
export type Session = {
  api: LimitsApi
  ledger: Ledger
  clock: Clock
  lease: LedgerLease
  /** Ends well before the lease does. */
  deadline: Deadline
  putsAtOnce: number
  /** Names the calls of this session, over all sessions uniquely. */
  nextCallId: () => string
}

const minuteMs = 60_000
/** The longest that a worker may be at it; a Lambda function lives no longer. */
const maxWorkMs = 15 * minuteMs
/** How much longer the lease lasts than the worker's own time: it is dead, or stopped, before anybody follows it. */
const graceMs = 30_000

/**
 * Takes the ledger for this worker. What a dead predecessor was about to send is pending from here on: it may have
 * reached the platform, so that nothing older may follow it, and no plan may take the old limit for the present one.
 */
export async function openSession(
  deps: Pick<ApplyDeps, 'api' | 'ledger' | 'clock' | 'deadline' | 'putsAtOnce'>,
  owner: string,
): Promise<Session | { heldBy: string; until: number }> {
  const { api, ledger, clock, putsAtOnce = 4 } = deps
  const now = clock.now()
  const workMs = Math.min(Math.max(0, deps.deadline.remainingMs()), maxWorkMs)
  const expiresAt = now + workMs + graceMs
  const opened = await ledger.open({ owner, now, expiresAt })
  if ('heldBy' in opened) return opened
  const remainingMs = () => Math.min(deps.deadline.remainingMs(), expiresAt - graceMs - clock.now())
  let calls = 0
  const nextCallId = () => `${String(opened.fence).padStart(6, '0')}-${String(++calls).padStart(3, '0')}`
  const session: Session = {
    api,
    ledger,
    clock,
    putsAtOnce,
    lease: { owner, fence: opened.fence, expiresAt },
    deadline: { remainingMs },
    nextCallId,
  }
  await settleJournal(opened.journal, session)
  return session
}

async function settleJournal(journal: Sending[], session: Session): Promise<void> {
  const { ledger, clock } = session
  for (const some of slices(journal, maxEntries)) {
    const states = await ledger.states(some.map(({ identity }) => identity))
    await recordPending(some, states, { ledger, now: clock.now(), callId: session.nextCallId() })
  }
}

/** Makes addresses pending to which something was sent without an answer. */
export function recordPending(
  unanswered: readonly Sending[],
  states: Awaited<ReturnType<Ledger['states']>>,
  { ledger, now, callId }: { ledger: Ledger; now: number; callId: string },
): Promise<void> {
  const pending = unanswered.map((sending) => pendingState(sending, states.get(sending.identity), now))
  return ledger.record({ outcomes: [], states: pending, recordedAt: now, callId })
}
