import type { Clock } from '../../core/clock.ts'
import { slices } from '../../core/concurrency.ts'
import type { Deadline } from '../../core/deadline.ts'
import { RetryableError, SyncError } from '../../core/errors.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { OutcomeName } from '../../streams/credit-limit-outcomes.ts'
import { maxEntries } from '../intent.ts'
import { isFailure, outcomeOf } from '../outcomes/outcome.ts'
import type { Ledger, LimitState, LimitsApi } from '../ports.ts'
import type { LimitRules } from '../rules.ts'
import { type Decision, decide, keysToLookUp, sendingOf, winnersOf } from './decide.ts'
import { type FailedMessage, failureOf, type LimitMessage, type ReadMessage, readMessages } from './messages.ts'
import { reassert } from './reassert.ts'
import { sendEverything } from './send-everything.ts'
import { openSession, type Session } from './session.ts'

/** What applying limits needs. */
export type ApplyDeps = {
  api: LimitsApi
  ledger: Ledger
  rules: LimitRules
  clock: Clock
  deadline: Deadline
  log: Log
  metrics: Metrics
  /** A name for a worker, never given twice. */
  newOwner: () => string
  /** PUTs that are under way at the same time; 4 unless said otherwise. They hold different addresses, so that order is safe. */
  putsAtOnce?: number
}

/** What became of a batch of messages: those that must go back to the queue, and how many entries ended how. */
export type ApplyResult = { failed: FailedMessage[]; ended: Record<OutcomeName, number> }

/**
 * Applies a batch of messages. Every entry of a message that is not among the failed ones has its outcome in the ledger.
 *
 * The order is the promise: the journal says what will be sent, then it is sent, then outcomes and states are recorded,
 * then the journal is emptied, and only then may the queue forget the messages. A death anywhere repeats sends, which
 * change nothing, and the newest intent of an address outranks all others meanwhile.
 */
export async function applyMessages(messages: readonly LimitMessage[], deps: ApplyDeps): Promise<ApplyResult> {
  const result: ApplyResult = {
    failed: [],
    ended: { applied: 0, rejected: 0, invalid: 0, superseded: 0, unaccounted: 0 },
  }
  const { readable, poison } = readMessages(messages, deps)
  result.failed.push(...poison)
  if (readable.length > 0) await applyReadable(readable, deps, result)
  if (result.failed.length > 0) await note(result.failed, deps)
  report(result, deps)
  return result
}

/** An error of the ledger fails the messages that it is about, and not those that nobody can read. */
async function applyReadable(readable: ReadMessage[], deps: ApplyDeps, result: ApplyResult): Promise<void> {
  // What an error leaves held is free by then, so that no delivery is lost on waiting for it.
  let heldUntil = 0
  try {
    const session = await openSession(deps, deps.newOwner())
    if ('heldBy' in session) return void fail(readable, busy(session.until - deps.clock.now()), { deps, result })
    heldUntil = session.lease.expiresAt
    await applyInSession(readable, session, { deps, result })
  } catch (error) {
    fail(readable, error, { deps, result, notBefore: heldUntil })
  }
}

async function applyInSession(
  readable: ReadMessage[],
  session: Session,
  { deps, result }: { deps: ApplyDeps; result: ApplyResult },
): Promise<void> {
  const { decision, states } = await decideAll(readable, session)
  await recordEnded(decision, session, result)

  const entries = new Map(decision.send.map((entry) => [entry.identity, entry]))
  const sending = [...decision.send.map(sendingOf), ...decision.again]
  if (sending.length > 0) await session.ledger.journal(session.lease, sending)
  const sent = await sendEverything(sending, { session, entries, states })
  for (const [outcome, count] of Object.entries(sent.ended)) result.ended[outcome as OutcomeName] += count
  if (sent.late.length > 0) await reassert(sent.late, deps)
  else await session.ledger.close(session.lease)

  const undone = readable.filter(({ deliveries }) =>
    deliveries.some(({ entry }) => entries.get(entry.identity) === entry && !sent.answered.has(entry.identity)),
  )
  if (undone.length > 0) fail(undone, sent.error ?? outOfTime(), { deps, result })
}

async function decideAll(
  readable: ReadMessage[],
  { ledger }: Session,
): Promise<{ decision: Decision; states: Map<string, LimitState> }> {
  const deliveries = readable.flatMap((message) => message.deliveries)
  const states = await ledger.states(new Set(deliveries.map(({ entry }) => entry.identity)))
  const winners = winnersOf(deliveries, states)
  const keys = keysToLookUp(deliveries, winners)
  const recorded = keys.length > 0 ? await ledger.outcomes(keys) : new Map()
  const decision = decide(deliveries, { states, winners, recorded })
  for (const state of decision.uncertain) states.set(state.identity, state)
  return { decision, states }
}

/**
 * Records the states that came into doubt, and the entries that end without being sent. In this order: once its outcome is
 * there, a message raises no doubt again.
 */
async function recordEnded({ ended, uncertain }: Decision, session: Session, result: ApplyResult): Promise<void> {
  const recordedAt = session.clock.now()
  if (uncertain.length > 0) {
    await session.ledger.record({ outcomes: [], states: uncertain, recordedAt, callId: session.nextCallId() })
  }
  const outcomes = ended.map(({ entry, outcome, reason }) => outcomeOf(entry, { outcome, reason }, recordedAt))
  for (const { outcome } of outcomes) result.ended[outcome] += 1
  for (const some of slices(outcomes, maxEntries)) {
    await session.ledger.record({ outcomes: some, states: [], recordedAt, callId: session.nextCallId() })
  }
}

function fail(
  messages: readonly ReadMessage[],
  error: unknown,
  { deps, result, notBefore = 0 }: { deps: ApplyDeps; result: ApplyResult; notBefore?: number },
): void {
  if (!(error instanceof SyncError)) throw error
  const now = deps.clock.now()
  for (const { message } of messages) {
    const failed = failureOf(message, error, now)
    result.failed.push({ ...failed, retryAfterMs: Math.max(failed.retryAfterMs, notBefore - now) })
  }
}

/** A ledger that can't be written must not keep the queue from learning which messages failed; the log has the reasons. */
async function note(failed: readonly FailedMessage[], { ledger, log }: ApplyDeps): Promise<void> {
  try {
    await ledger.noteFailures(failed.map(({ retryAfterMs, ...rest }) => rest))
  } catch (error) {
    if (!(error instanceof SyncError)) throw error
    log.warn('Why messages failed could not be kept in the ledger.', { reason: error.message })
  }
}

function report({ failed, ended }: ApplyResult, { log, metrics }: ApplyDeps): void {
  for (const { messageId, code, reason, receiveCount } of failed) {
    log.error('A message with credit limits goes back to the queue.', { messageId, code, reason, receiveCount })
  }
  let failures = 0
  for (const [outcome, count] of Object.entries(ended)) if (isFailure(outcome as OutcomeName)) failures += count
  metrics.count('LimitsApplied', ended.applied)
  metrics.count('LimitsSuperseded', ended.superseded)
  metrics.count('LimitsFailed', failures)
  metrics.count('LimitMessagesFailed', failed.length)
  log.info('Credit limits were applied.', { ...ended, messagesFailed: failed.length })
}

function busy(forMs: number) {
  return new RetryableError('Another worker holds the ledger of credit limits. Its messages come first; these wait.', {
    code: 'lease_lost',
    retryAfterMs: Math.max(1_000, forMs),
  })
}

function outOfTime() {
  return new RetryableError(
    'The time of this invocation ended before all limits were sent; the rest is sent next time.',
    {
      code: 'timeout',
      retryAfterMs: 0,
    },
  )
}
