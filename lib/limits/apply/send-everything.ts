import { eachConcurrently, slices } from '../../core/concurrency.ts'
import { FatalError } from '../../core/errors.ts'
import type { OutcomeName } from '../../streams/credit-limit-outcomes.ts'
import type { ValidEntry } from '../entries.ts'
import { maxEntries } from '../intent.ts'
import { outcomeOf } from '../outcomes/outcome.ts'
import type { LimitState, Sending } from '../ports.ts'
import { type GroupResult, sendGroup } from './send-group.ts'
import { recordPending, type Session } from './session.ts'
import { answeredState } from './states.ts'

/** What sending needs to know: the entries that want an outcome, and what the ledger knew before, by identity. */
type Work = {
  session: Session
  entries: ReadonlyMap<string, ValidEntry>
  states: Map<string, LimitState>
}

/** What became of all groups. */
export type Sent = {
  /** Identities whose outcome is recorded. */
  answered: Set<string>
  ended: Partial<Record<OutcomeName, number>>
  /** What stopped it, if something did. */
  error: unknown
  /** What was sent when the lease had run out already, so that another worker's limit may have been overwritten. */
  late: Sending[]
}

/** The least time in which a PUT is worth starting. */
const minPutMs = 2_000

/**
 * Sends limits in groups of at most 100, some at a time, so that one group's outcomes are recorded while the next is on
 * its way. It stops at the first error, or when the time left is shorter than twice the longest PUT took.
 */
export async function sendEverything(sending: readonly Sending[], work: Work): Promise<Sent> {
  const { session } = work
  const sent: Sent = { answered: new Set(), ended: {}, error: undefined, late: [] }
  let longestMs = 0
  await eachConcurrently(slices(sending, maxEntries), session.putsAtOnce, async (group) => {
    if (sent.error || session.deadline.remainingMs() < Math.max(minPutMs, 2 * longestMs)) return
    const startedAt = session.clock.now()
    const result = await sendGroup(group, session)
    longestMs = Math.max(longestMs, session.clock.now() - startedAt)
    sent.error ??= result.error
    if (session.clock.now() < session.lease.expiresAt) return await recordGroup(result, work, sent)
    sent.late.push(...group)
    sent.error ??= leaseLost()
  })
  return sent
}

async function recordGroup({ answers, unanswered }: GroupResult, work: Work, sent: Sent): Promise<void> {
  const { session, entries, states } = work
  const recordedAt = session.clock.now()
  const outcomes = answers.flatMap(({ sending, status, reason, apiCall }) => {
    const entry = entries.get(sending.identity)
    if (!entry) return []
    const before = states.get(sending.identity)
    const previousLimit = before?.certain ? before.limit : null
    return [outcomeOf(entry, { outcome: status, reason, apiCall, previousLimit }, recordedAt)]
  })
  const after = answers.map(({ sending, status }) => {
    const before = states.get(sending.identity)
    // A limit that was only said again, and is not taken now: what the platform has is open.
    if (before && status !== 'applied' && !entries.has(sending.identity)) return { ...before, certain: false }
    return answeredState(sending, { before, status }, recordedAt)
  })
  const { ledger } = session
  await ledger.record({ outcomes, states: after, recordedAt, callId: session.nextCallId() })
  if (unanswered.length > 0) {
    await recordPending(unanswered, states, { ledger, now: recordedAt, callId: session.nextCallId() })
  }
  for (const { identity, outcome } of outcomes) {
    sent.answered.add(identity)
    sent.ended[outcome] = (sent.ended[outcome] ?? 0) + 1
  }
}

function leaseLost() {
  return new FatalError(
    'An answer of the platform came after the lease on the ledger had run out. The limits are sent anew.',
    {
      code: 'lease_lost',
    },
  )
}
