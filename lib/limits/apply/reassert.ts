import { slices } from '../../core/concurrency.ts'
import { deadlineAfter } from '../../core/deadline.ts'
import { RetryableError } from '../../core/errors.ts'
import { retry } from '../../core/retry.ts'
import { maxEntries } from '../intent.ts'
import type { LimitState, Sending } from '../ports.ts'
import type { ApplyDeps } from './apply.ts'
import { sendingOfState } from './decide.ts'
import { sendGroup } from './send-group.ts'
import { openSession, type Session } from './session.ts'
import { answeredState } from './states.ts'

const attempts = 30
const pauseMs = 5_000
const heldCode = 'lease_lost'
/** Of its own, since the invocation's time may be over; short, since the lease lasts as long if this dies, too. */
const workMs = 2 * 60_000

/**
 * Repairs what a stalled worker may have done: it sent limits, and heard the answer when its lease had run out. If
 * another worker set newer limits meanwhile, the platform may now have the older ones, so that the newer are sent again.
 * Where nobody came between, the addresses are pending, and their messages come again.
 */
export async function reassert(late: readonly Sending[], deps: ApplyDeps): Promise<void> {
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
async function takeLedger(deps: ApplyDeps): Promise<Session | null> {
  const { clock } = deps
  const take = async () => {
    const session = await openSession({ ...deps, deadline: deadlineAfter(clock, workMs) }, deps.newOwner())
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

/** Until the platform confirms them, the newer limits are in doubt: should this end here, no plan takes them for sure. */
async function sendNewer(late: readonly Sending[], session: Session): Promise<void> {
  const { ledger, clock, nextCallId } = session
  const states = await ledger.states(late.map(({ identity }) => identity))
  const newer = late.flatMap(({ identity, order }) => {
    const state = states.get(identity)
    return state?.status === 'applied' && state.order > order ? [state] : []
  })
  const record = (changed: LimitState[]) =>
    ledger.record({ outcomes: [], states: changed, recordedAt: clock.now(), callId: nextCallId() })
  for (const some of slices(newer, maxEntries)) {
    const doubted = some.map((state) => ({ ...state, certain: false }))
    await record(doubted)
    const { answers, error } = await sendGroup(doubted.map(sendingOfState), session)
    const confirmed = answers.filter(({ status }) => status === 'applied')
    await record(
      confirmed.map(({ sending, status }) =>
        answeredState(sending, { before: states.get(sending.identity), status }, clock.now()),
      ),
    )
    if (error) throw error
  }
}
