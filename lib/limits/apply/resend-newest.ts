import { slices } from '../../core/concurrency.ts'
import { deadlineAfter } from '../../core/deadline.ts'
import { RetryableError } from '../../core/errors.ts'
import type { Log } from '../../core/log.ts'
import { retry } from '../../core/retry.ts'
import { maxEntries } from '../intent.ts'
import { answeredState, asUncertain, type LimitState, newestOf, type OutgoingLimit } from '../limit-state.ts'
import { type LedgerSession, type LedgerSessionDeps, openLedgerSession } from './ledger-session.ts'
import { sendGroup } from './send-group.ts'

const attempts = 30
const pauseMs = 5_000
const heldCode = 'lease_lost'
/** Time of its own, since the invocation's may be over; short, since the lease lasts as long if this dies, too. */
const workMs = 2 * 60_000

/**
 * Repairs what a stalled worker may have done: it sent limits, and heard the answer when its lease had run out. If
 * another worker set newer limits meanwhile, the platform may have the older ones, so that the newer are sent again.
 * Where nobody came between, the addresses are pending, and their messages come again.
 */
export async function resendNewest(
  late: readonly OutgoingLimit[],
  deps: LedgerSessionDeps & { log: Log },
): Promise<void> {
  deps.log.warn('A worker outlived its lease; the newest limits of its addresses are sent again.', {
    count: late.length,
  })
  const session = await takeLedger(deps)
  if (!session) {
    deps.log.error('The ledger stayed held; plan the limits of these addresses anew.', { count: late.length })
    return
  }
  try {
    await sendNewer(late, session)
  } finally {
    await session.ledger.close(session.lease)
  }
}

/** The ledger, as soon as its holder gives it back or loses it; null when it stays held. */
async function takeLedger(deps: LedgerSessionDeps): Promise<LedgerSession | null> {
  const { clock } = deps
  const take = async () => {
    const session = await openLedgerSession({ ...deps, deadline: deadlineAfter(clock, workMs) })
    if (!('heldBy' in session)) return session
    const retryAfterMs = Math.min(pauseMs, Math.max(0, session.until - clock.now()))
    return new RetryableError('Another worker holds the ledger of credit limits.', { code: heldCode, retryAfterMs })
  }
  try {
    return await retry(take, { attempts, waits: { clock, afterMs: () => pauseMs } })
  } catch (error) {
    if (error instanceof RetryableError && error.code === heldCode) return null
    throw error
  }
}

/** Sends newer limits. They are uncertain until the platform confirms them: should this end here, no plan relies on them. */
async function sendNewer(late: readonly OutgoingLimit[], session: LedgerSession): Promise<void> {
  const { ledger, clock, nextCallId } = session
  const states = await ledger.states(late.map(({ identity }) => identity))
  const newer = late.flatMap(({ identity, order }) => {
    const state = states.get(identity)
    return state?.status === 'applied' && state.order > order ? [state] : []
  })
  const record = (changed: LimitState[]) =>
    ledger.record({ outcomes: [], states: changed, recordedAt: clock.now(), callId: nextCallId() })
  for (const some of slices(newer, maxEntries)) {
    await record(some.map(asUncertain))
    const { answers, error } = await sendGroup(some.map(newestOf), session)
    const confirmed = answers.filter(({ status }) => status === 'applied')
    await record(
      confirmed.map(({ outgoing, status }) =>
        answeredState(outgoing, { before: states.get(outgoing.identity), status }, clock.now()),
      ),
    )
    if (error) throw error
  }
}
