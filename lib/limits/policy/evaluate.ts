import type { LimitState } from '../limit-state.ts'
import { dayIn, dayOfEnd, daysAfter, stillStands } from './calendar.ts'
import { type PolicyUser, type Rules, verdictOn } from './rules.ts'

/** Somebody whom a policy has seen among the users. `goneSince`: the first day on which a scan did not list them. */
export type Member = { address: string; goneSince?: string | undefined }

/** All that a policy has seen, by identity. */
export type Members = ReadonlyMap<string, Member>

/** The facts that a policy is held against. */
export type PolicyFacts = {
  rules: Rules
  /** The users of a scan that is complete, and not suspect. */
  users: readonly PolicyUser[]
  /** Who was seen before. */
  members: Members
  /** The ledger's knowledge of users and members, by identity. */
  states: ReadonlyMap<string, LimitState>
  /** Unix ms. */
  now: number
}

/** What a policy says of one person. `heldUntil`: a limit made by hand stands till then, and the policy waits. */
export type Decision = {
  identity: string
  address: string
  /** Null leaves the limit as it is. */
  limit: number | null
  rule: string
  line: number
  why: string
  /** Until when the rule says so, where it ends. */
  until?: string
  heldUntil: string | null
}

/** Somebody of whom the policy says two things. */
export type Contested = { address: string; rules: readonly string[] }

/** A policy held against the facts. */
export type Evaluation = {
  today: string
  decisions: Decision[]
  contested: Contested[]
  /** Who has been seen by now. */
  members: Map<string, Member>
  /** The first day on which the same facts may mean something else; null when they never will. */
  nextDay: string | null
}

/** Says what everybody gets under a policy, today in the policy's own time zone. The same facts always mean the same. */
export function evaluate(facts: PolicyFacts): Evaluation {
  const { rules, users, now } = facts
  const { timeZone } = rules.policy
  const today = dayIn(timeZone, now)
  const contested: Contested[] = []
  const decisions: Decision[] = []
  for (const records of Map.groupBy(users, ({ identity }) => identity).values()) {
    const decided = decisionOn(records, { ...facts, today })
    if ('rules' in decided) contested.push(decided)
    else decisions.push(decided)
  }
  const members = membersAfter(facts, today)
  for (const [identity, member] of members) {
    const leaving = leaverDecision(identity, member, { ...facts, today })
    if (leaving) decisions.push(leaving)
  }
  return { today, decisions, contested, members, nextDay: nextDayOf({ ...facts, members }, today) }
}

type Deciding = PolicyFacts & { today: string }

/** Two users of one address are one person to the platform's limits: what they get must be one thing. */
function decisionOn(records: readonly PolicyUser[], facts: Deciding): Decision | Contested {
  const [{ identity, address }] = records as [PolicyUser]
  const verdicts = records.map((user) => verdictOn(user, facts.rules, facts.today))
  const names = new Set(verdicts.flatMap((verdict) => ('tie' in verdict ? verdict.tie : [verdict.rule])))
  const [first] = verdicts
  if (first === undefined || verdicts.some((one) => 'tie' in one || 'tie' in first || one.limit !== first.limit)) {
    return { address, rules: [...names] }
  }
  return {
    identity,
    address,
    ...(first as Exclude<typeof first, { tie: unknown }>),
    heldUntil: heldUntil(identity, facts),
  }
}

function heldUntil(identity: string, { states, rules, now }: PolicyFacts): string | null {
  const { until, sourceKind } = states.get(identity) ?? {}
  if (until === undefined || sourceKind === 'policy') return null
  return stillStands(until, { timeZone: rules.policy.timeZone, now }) ? until : null
}

function membersAfter({ users, members }: PolicyFacts, today: string): Map<string, Member> {
  const present = users.map(({ identity, address }) => [identity, { address }] as const)
  const after = new Map<string, Member>(present)
  for (const [identity, { address, goneSince = today }] of members) {
    if (!after.has(identity)) after.set(identity, { address, goneSince })
  }
  return after
}

/** What becomes of somebody who is gone; null while nothing does. Who never had a limit has none to lose. */
function leaverDecision(identity: string, { address, goneSince }: Member, facts: Deciding): Decision | null {
  const { rules, states, today } = facts
  const { leavers } = rules.policy
  if (goneSince === undefined || leavers === 'none' || daysAfter(goneSince, leavers.afterDays) > today) return null
  const state = states.get(identity)
  // The platform said already that it knows nobody of that address.
  if (state === undefined || (state.status === 'rejected' && (state.limit === null || state.wanted === leavers.set))) {
    return null
  }
  const why = `not in the list of users since ${goneSince}`
  const held = heldUntil(identity, facts)
  return { identity, address, limit: leavers.set, rule: 'leavers', line: rules.leaversLine, why, heldUntil: held }
}

/** How many days later a limit that the platform refused is asked for again. */
const askAgainDays = 7

/**
 * The day from which on a limit that the platform refused is asked for again; null when it did not. Until then the same
 * limit would get the same answer, and each night would end as one that failed.
 */
export function askAgainOn(state: LimitState | undefined, timeZone: string): string | null {
  if (state?.status !== 'rejected') return null
  return daysAfter(dayIn(timeZone, Date.parse(state.changedAt)), askAgainDays)
}

function nextDayOf({ rules, members, states, now }: PolicyFacts, today: string): string | null {
  const { leavers, timeZone } = rules.policy
  const days: string[] = []
  for (const some of rules.overrides.values()) {
    for (const { from, until } of some) days.push(from, daysAfter(until, 1))
  }
  for (const { goneSince } of members.values()) {
    if (goneSince !== undefined && leavers !== 'none') days.push(daysAfter(goneSince, leavers.afterDays))
  }
  for (const state of states.values()) {
    days.push(askAgainOn(state, timeZone) ?? today)
    const { until, sourceKind } = state
    if (until === undefined || sourceKind === 'policy' || !stillStands(until, { timeZone, now })) continue
    const end = dayOfEnd(until, timeZone)
    // It may end at any time of today.
    if (end === today) return today
    days.push(end)
  }
  return days.filter((day) => day > today).reduce<string | null>((a, b) => (a === null || b < a ? b : a), null)
}
