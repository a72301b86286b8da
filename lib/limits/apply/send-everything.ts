import { eachConcurrently, slices } from '../../core/concurrency.ts'
import { type ErrorCode, FatalError, SyncError } from '../../core/errors.ts'
import type { OutcomeName } from '../../streams/limit-outcome.ts'
import type { ValidLimitEntry } from '../entries.ts'
import { maxEntries } from '../intent.ts'
import { answeredState, asUncertain, type LimitState, type OutgoingLimit } from '../limit-state.ts'
import { outcomeOf } from '../outcomes/outcome.ts'
import { type LedgerSession, recordPending } from './ledger-session.ts'
import { type GroupResult, sendGroup } from './send-group.ts'

/** The work of one batch: the entries that want an outcome, and what the ledger knew before, by identity. */
type Work = {
  session: LedgerSession
  entries: ReadonlyMap<string, ValidLimitEntry>
  states: Map<string, LimitState>
}

/** The result of sending all groups. */
export type SendResult = {
  /** Identities whose outcome is recorded. */
  answered: Set<string>
  ended: Partial<Record<OutcomeName, number>>
  /** The error of the group that an identity went in, where there was one. */
  errors: Map<string, unknown>
  /** The error that kept other groups from being sent, if one did. */
  stopped: unknown
  /** Limits sent when the lease had run out already, so that another worker's may have been overwritten. */
  late: OutgoingLimit[]
}

/** The least time in which a PUT is worth starting. */
const minPutMs = 2_000

/** Codes of errors that every group would meet. Others cost the group alone, and the messages with entries in it. */
const metByAll: ReadonlySet<ErrorCode> = new Set([
  'configuration',
  'forbidden',
  'lease_lost',
  'rate_limited',
  'redirected',
  'unauthorized',
])

/**
 * Sends limits in groups of at most 100, some at a time, so that one group's outcomes are recorded while the next is on
 * its way. It stops at an error that every group would meet, or when the time left is shorter than twice the longest
 * group took.
 */
export async function sendEverything(outgoing: readonly OutgoingLimit[], work: Work): Promise<SendResult> {
  const { session } = work
  const sent: SendResult = { answered: new Set(), ended: {}, errors: new Map(), stopped: undefined, late: [] }
  let longestMs = 0
  await eachConcurrently(slices(outgoing, maxEntries), session.putsAtOnce, async (group) => {
    if (sent.stopped || session.deadline.remainingMs() < Math.max(minPutMs, 2 * longestMs)) return
    const startedAt = session.clock.now()
    const result = await sendGroup(group, session)
    longestMs = Math.max(longestMs, session.clock.now() - startedAt)
    if (result.error) noteError(result.error, group, sent)
    if (session.clock.now() < session.lease.expiresAt) return await recordGroup(result, work, sent)
    sent.late.push(...group)
    noteError(leaseLost(), group, sent)
  })
  return sent
}

function noteError(error: unknown, group: readonly OutgoingLimit[], sent: SendResult): void {
  for (const { identity } of group) if (!sent.errors.has(identity)) sent.errors.set(identity, error)
  // What is no error of ours is a defect, and no message's own trouble.
  if (!(error instanceof SyncError) || metByAll.has(error.code)) sent.stopped ??= error
}

async function recordGroup({ answers, unanswered }: GroupResult, work: Work, sent: SendResult): Promise<void> {
  const { session, entries, states } = work
  const recordedAt = session.clock.now()
  const outcomes = answers.flatMap(({ outgoing, status, reason, apiCall }) => {
    const entry = entries.get(outgoing.identity)
    if (!entry) return []
    const before = states.get(outgoing.identity)
    const previousLimit = before?.certain ? before.limit : null
    return [outcomeOf(entry, { outcome: status, reason, apiCall, previousLimit }, recordedAt)]
  })
  const after = answers.map(({ outgoing, status }) => {
    const before = states.get(outgoing.identity)
    // A limit that was only said again, and is not taken now: what the platform has is open.
    if (before && status !== 'applied' && !entries.has(outgoing.identity)) return asUncertain(before)
    return answeredState(outgoing, { before, status }, recordedAt)
  })
  await session.ledger.record({ outcomes, states: after, recordedAt, callId: session.nextCallId() })
  if (unanswered.length > 0) await recordPending(unanswered, states, session)
  for (const { identity, outcome } of outcomes) {
    sent.answered.add(identity)
    sent.ended[outcome] = (sent.ended[outcome] ?? 0) + 1
  }
}

function leaseLost() {
  const message = 'An answer of the platform came after the lease on the ledger had run out. The limits are sent anew.'
  return new FatalError(message, { code: 'lease_lost' })
}
