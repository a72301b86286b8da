import type { Clock } from '../../core/clock.ts'
import { RejectedError } from '../../core/errors.ts'
import { type LimitOutcome, originOf } from '../../streams/limit-outcome.ts'
import { identityOf } from '../email.ts'
import { excerpt, type LimitRules } from '../entries.ts'
import type { IntentEntry } from '../intent.ts'
import type { LimitState } from '../limit-state.ts'
import { keyText, type OutcomeKey, outcomeKey } from '../outcomes/outcome.ts'
import type { LedgerReader } from '../ports.ts'
import { type Plan, realChanges } from './plan.ts'
import { type IntentMessage, intentsOf } from './publisher.ts'

/**
 * Holds a plan to what it said: the ledger must be where it was, and the guard rails must still allow it.
 * @throws RejectedError `bad_request` when the plan may not be applied; a new one must be made then.
 */
export async function checkPlan(
  plan: Plan,
  deps: { reader: Pick<LedgerReader, 'statesWithPending'>; rules: LimitRules; unfinished: () => Promise<number> },
): Promise<void> {
  const { reader, rules, unfinished } = deps
  if (plan.refusals.length > 0) throw refused(plan, plan.refusals.join(' '))
  if (realChanges(plan.changes).length > rules.maxChanges)
    throw refused(plan, `At most ${rules.maxChanges} limits may change at once.`)
  const above = plan.changes.find(({ limit }) => limit > rules.maxLimit)
  if (above) throw refused(plan, `Line ${above.line} asks for more than ${rules.maxLimit}, the largest limit allowed.`)
  // They were asked for before, and would be applied after: what the plan leaves as it is might not stay so. Asked before
  // the ledger is read: what ends in between is in the ledger then.
  if (plan.same.length > 0 && (await unfinished()) > 0)
    throw refused(plan, `It leaves ${plan.same.length} limits as they are, and earlier requests are not finished.`)
  const rows = [
    ...plan.changes.map(({ email, kind, from }) => ({ email, kind, from })),
    ...plan.same.map(({ email, limit }) => ({ email, kind: 'same' as const, from: limit })),
  ]
  const states = await reader.statesWithPending(new Set(rows.map(({ email }) => identityOf(email))))
  const moved = rows.filter((row) => hasMoved(row, states.get(identityOf(row.email))))
  if (moved.length > 0)
    throw refused(plan, `Since it was made, ${moved.length} of its limits have changed (${moved[0]!.email}).`)
}

type PlannedRow = { email: string; kind: 'new' | 'changed' | 'same'; from: number | null }

function hasMoved({ kind, from }: PlannedRow, state: LimitState | undefined): boolean {
  if ((state?.certain ? state.limit : null) !== from) return true
  return kind !== 'same' && (state !== undefined && state.limit !== null ? 'changed' : 'new') !== kind
}

function refused({ id, source }: Plan, why: string) {
  return new RejectedError(`Plan ${id} may not be applied. ${why} Nothing was sent; plan ${source} again.`, {
    code: 'bad_request',
  })
}

/** Who asks for a plan, when, and in which words. `reason` stands for those changes that have none of their own. */
export type Asked = { requestedAt: number; requestedBy: string; approvedBy?: string; reason?: string | undefined }

/** The intents of a plan: its changes, and nothing else. */
export function intentsOfPlan(plan: Plan, asked: Asked): IntentMessage[] {
  const { sourceKind = 'cli', policyVersion } = plan
  const reason = asked.reason && excerpt(asked.reason, 500)
  return intentsOf(
    {
      ...originOf({ sourceKind, planId: plan.id, policyVersion, approvedBy: asked.approvedBy?.slice(0, 320) }),
      requestId: `${requestsOf(plan)}${asked.requestedAt.toString(36)}`,
      requestedAt: new Date(asked.requestedAt).toISOString(),
      requestedBy: asked.requestedBy.slice(0, 320),
      source: `plan ${plan.id} of ${plan.source}`.slice(0, 320),
    },
    entriesOfPlan(plan).map((entry) => ({ ...(reason ? { why: reason } : {}), ...entry })),
  )
}

/** What the ids of a plan's requests begin with, whenever it is applied. */
function requestsOf({ id }: Pick<Plan, 'id'>): string {
  return `plan-${id}-`
}

const changesPerLook = 5

/** How a plan was applied before, as the ledger tells by its first changes; null when it was not. */
export async function appliedBefore(
  plan: Plan,
  reader: Pick<LedgerReader, 'outcomesOf'>,
): Promise<LimitOutcome | null> {
  for (const { email } of plan.changes.slice(0, changesPerLook)) {
    const outcomes = await reader.outcomesOf(identityOf(email))
    const found = outcomes.find(({ requestId }) => requestId.startsWith(requestsOf(plan)))
    if (found) return found
  }
  return null
}

/** The changes of a plan as entries of an intent, with what each says of its origin. */
export function entriesOfPlan({ changes }: Plan): IntentEntry[] {
  return changes.map(({ email, limit, rule, why, until }) => ({ email, limit, ...originOf({ rule, why, until }) }))
}

const intentsPerLook = 10

/**
 * Watches intents come to their ends, and yields outcomes as the ledger shows them. It ends when every entry has its
 * outcome, or when the signal says so.
 */
export async function* followIntents(
  intents: readonly IntentMessage[],
  deps: { reader: Pick<LedgerReader, 'outcomes'>; clock: Clock; signal: AbortSignal; pauseMs?: number },
): AsyncGenerator<LimitOutcome[]> {
  const { reader, clock, signal, pauseMs = 500 } = deps
  let waiting = intents.map((intent) => new Map(keysOf(intent).map((key) => [keyText(key), key])))
  for (;;) {
    const looked = waiting.slice(0, intentsPerLook)
    const found = await reader.outcomes(looked.flatMap((keys) => [...keys.values()]))
    for (const keys of looked) for (const key of found.keys()) keys.delete(key)
    // What has no news goes to the end: a message among the dead letters must not hide those behind it.
    waiting = [...waiting.slice(intentsPerLook), ...looked].filter(({ size }) => size > 0)
    if (found.size > 0) yield [...found.values()]
    if (waiting.length === 0 || signal.aborted) return
    if (found.size === 0) await clock.sleep(pauseMs, signal).catch(() => {})
  }
}

/** The outcomes that intents have by now. */
export async function outcomesSoFar(
  intents: readonly IntentMessage[],
  reader: Pick<LedgerReader, 'outcomes'>,
): Promise<LimitOutcome[]> {
  return [...(await reader.outcomes(intents.flatMap(keysOf))).values()]
}

function keysOf({ requestId, requestedAt, limits }: IntentMessage): OutcomeKey[] {
  return limits.map(({ email, limit }, index) =>
    outcomeKey({ requestId, requestedAt, index, identity: identityOf(email), address: email, limit }),
  )
}
