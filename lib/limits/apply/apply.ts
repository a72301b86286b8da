import { slices } from '../../core/concurrency.ts'
import { RetryableError, SyncError } from '../../core/errors.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { OutcomeName } from '../../streams/limit-outcome.ts'
import type { LimitRules } from '../entries.ts'
import { maxEntries } from '../intent.ts'
import { type LimitState, outgoingOf } from '../limit-state.ts'
import { isFailure, outcomeOf } from '../outcomes/outcome.ts'
import { type Decision, type DeliveredEntry, decide, keysToLookUp, winnersOf } from './decide.ts'
import { type LedgerSession, type LedgerSessionDeps, openLedgerSession } from './ledger-session.ts'
import { type FailedMessage, failureOf, type LimitMessage, type ReadMessage, readMessages } from './messages.ts'
import { resendNewest } from './resend-newest.ts'
import { type SendResult, sendEverything } from './send-everything.ts'

/** Dependencies of applying limits. */
export type ApplyDeps = LedgerSessionDeps & { rules: LimitRules; log: Log; metrics: Metrics }

/** The result of a batch of messages: those that must go back to the queue, and how many entries ended how. */
export type ApplyResult = { failed: FailedMessage[]; ended: Record<OutcomeName, number> }

/**
 * Applies a batch of messages. Every entry of a message that is not among the failed ones has its outcome in the ledger.
 *
 * The order is the promise: the journal says what will be sent, then it is sent, then outcomes and states are recorded,
 * then the journal is emptied, and only then may the queue forget the messages. A death anywhere repeats sends, which
 * change nothing, and the newest intent of an address outranks all others meanwhile. `malformed` are messages of the batch
 * that failed before anybody read them: they are noted with the others.
 */
export async function applyMessages(
  messages: readonly LimitMessage[],
  deps: ApplyDeps,
  malformed: readonly FailedMessage[] = [],
): Promise<ApplyResult> {
  const { readable, unreadable } = readMessages(messages, deps)
  const result: ApplyResult = {
    failed: [...malformed, ...unreadable],
    ended: { applied: 0, rejected: 0, invalid: 0, superseded: 0, unaccounted: 0 },
  }
  if (readable.length > 0) await applyReadable(readable, deps, result)
  if (result.failed.length > 0) await note(result.failed, deps)
  report(result, deps)
  return result
}

/** Applies messages. An error of the ledger fails those that it is about, and not those that nobody can read. */
async function applyReadable(readable: ReadMessage[], deps: ApplyDeps, result: ApplyResult): Promise<void> {
  // What an error leaves held is free by then, so that no receive is lost on waiting for it.
  let heldUntil = 0
  try {
    const session = await openLedgerSession(deps)
    if ('heldBy' in session) return void fail(readable, busy(session.until - deps.clock.now()), { deps, result })
    heldUntil = session.lease.expiresAt
    await applyInSession(readable, session, { deps, result })
  } catch (error) {
    fail(readable, error, { deps, result, notBefore: heldUntil })
  }
}

async function applyInSession(
  readable: ReadMessage[],
  session: LedgerSession,
  { deps, result }: { deps: ApplyDeps; result: ApplyResult },
): Promise<void> {
  const { decision, states } = await decideAll(readable, session)
  await recordUnsent(decision, session, result)

  const entries = new Map(decision.send.map((entry) => [entry.identity, entry]))
  const outgoing = [...decision.send.map(outgoingOf), ...decision.resend]
  if (outgoing.length > 0) await session.ledger.journal(session.lease, outgoing)
  const sent = await sendEverything(outgoing, { session, entries, states })
  for (const [outcome, count] of Object.entries(sent.ended)) result.ended[outcome as OutcomeName] += count
  if (sent.late.length > 0) await resendNewest(sent.late, deps)
  else await session.ledger.close(session.lease)

  for (const message of readable) {
    const undone = message.entries.filter(
      ({ entry }) => entries.get(entry.identity) === entry && !sent.answered.has(entry.identity),
    )
    if (undone.length > 0) fail([message], errorOf(undone, sent), { deps, result })
  }
}

/** Why entries have no outcome: the error of their own group before one that stopped all. */
function errorOf(undone: readonly DeliveredEntry[], { errors, stopped }: SendResult): unknown {
  const own = undone.map(({ entry }) => errors.get(entry.identity)).find((error) => error !== undefined)
  return own ?? stopped ?? outOfTime()
}

async function decideAll(
  readable: ReadMessage[],
  { ledger }: LedgerSession,
): Promise<{ decision: Decision; states: Map<string, LimitState> }> {
  const delivered = readable.flatMap((message) => message.entries)
  const states = await ledger.states(new Set(delivered.map(({ entry }) => entry.identity)))
  const winners = winnersOf(delivered, states)
  const keys = keysToLookUp(delivered, winners)
  const recorded = keys.length > 0 ? await ledger.outcomes(keys) : new Map()
  const decision = decide(delivered, { states, winners, recorded })
  for (const state of decision.uncertain) states.set(state.identity, state)
  return { decision, states }
}

/**
 * Records the states that became uncertain, and the entries that end without being sent. In this order: once its outcome
 * is there, a message makes no state uncertain again.
 */
async function recordUnsent(
  { unsent, uncertain }: Decision,
  session: LedgerSession,
  result: ApplyResult,
): Promise<void> {
  const recordedAt = session.clock.now()
  if (uncertain.length > 0) {
    await session.ledger.record({ outcomes: [], states: uncertain, recordedAt, callId: session.nextCallId() })
  }
  const outcomes = unsent.map(({ entry, outcome, reason }) => outcomeOf(entry, { outcome, reason }, recordedAt))
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

/** Keeps why messages failed. A ledger that can't be written must not keep the queue from learning which; the log has the reasons. */
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
  const message = 'The time of this invocation ended before all limits were sent; the rest is sent next time.'
  return new RetryableError(message, { code: 'timeout', retryAfterMs: 0 })
}
