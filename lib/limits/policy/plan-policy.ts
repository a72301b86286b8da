import { sha256 } from '../../core/hash.ts'
import type { LimitRules } from '../entries.ts'
import { makePlan, type Plan, realChanges } from '../intake/plan.ts'
import type { LimitState } from '../limit-state.ts'
import type { LedgerReader } from '../ports.ts'
import { dayIn, daysAfter } from './calendar.ts'
import {
  askAgainOn,
  type Contested,
  type Decision,
  type Evaluation,
  evaluate,
  type Member,
  type PolicyFacts,
} from './evaluate.ts'
import { outsideGuard } from './guard.ts'
import { loadPolicy, type PolicyFolder, policyFile } from './load-policy.ts'
import type { PolicyMemory, PolicyStore } from './memory.ts'
import type { PolicyFault } from './read-policy.ts'
import type { Rules } from './rules.ts'
import type { ScannedUsers, UsersSource } from './users.ts'

/** The things that a policy is held against. */
export type PlanPolicyDeps = {
  folder: PolicyFolder
  /** The name of the policy's file; policy.yaml by default. */
  file?: string
  users: UsersSource
  reader: Pick<LedgerReader, 'statesWithPending' | 'allStates' | 'turn'>
  store: Pick<PolicyStore, 'memory'>
  rules: LimitRules
}

/** Why a policy can't be held against anything: then nothing changes. */
export type NoPolicy =
  | { status: 'no_policy' }
  | { status: 'invalid'; faults: PolicyFault[] }
  | { status: 'contested'; contested: Contested[] }
  | { status: 'unusable'; reason: string }

/** A policy with all that it takes to plan, before anything large is read. */
export type OpenedPolicy = {
  rules: Rules
  memory: PolicyMemory | null
  scan: ScannedUsers
  /** Names all facts but the day; null when they are changing right now. */
  facts: string | null
  today: string
  now: number
}

/** Reads the policy, and finds what it is to be held against. */
export async function openPolicy(deps: PlanPolicyDeps, now: number): Promise<OpenedPolicy | NoPolicy> {
  const loaded = await loadPolicy(deps.folder, deps.file)
  if (loaded === null) return { status: 'no_policy' }
  if ('faults' in loaded) return { status: 'invalid', faults: loaded.faults }
  const { rules } = loaded
  const scan = await deps.users.newest()
  if ('unusable' in scan) return { status: 'unusable', reason: scan.unusable }
  // Asked before the states are read: what changes in between is not taken for known.
  const turn = await deps.reader.turn()
  const facts = turn === null ? null : sha256(`${rules.version} ${scan.key} ${turn}`)
  const memory = await deps.store.memory()
  return { rules, memory, scan, facts, today: dayIn(rules.policy.timeZone, now), now }
}

/** Whether the same facts were found in order before, and no day came since on which they mean something else. */
export function isSettled({ facts, memory, today, rules }: OpenedPolicy): boolean {
  if (!memory?.settled || memory.settled.facts !== facts || isReassertDue(memory, rules, today)) return false
  const { nextDay } = memory.settled
  return nextDay === null || today < nextDay
}

/** What a policy would do. `plan` is null when there is nothing to do. */
export type PlannedPolicy = {
  status: 'planned'
  plan: Plan | null
  /** Why the plan is outside of the guard; none when it is within it. */
  outside: string[]
  /** It sends limits that stand already, too. */
  all: boolean
  evaluation: Evaluation
  states: ReadonlyMap<string, LimitState>
  /** What to remember when this was carried out. */
  memory: PolicyMemory
}

/** Reads the users, and what is remembered and known of them. */
export async function factsOf({ rules, memory, scan, now }: OpenedPolicy, deps: PlanPolicyDeps): Promise<PolicyFacts> {
  const users = await scan.read()
  const members = memory ? new Map(Object.entries(memory.members)) : await everybodyIn(deps.reader)
  const identities = new Set([...users.map(({ identity }) => identity), ...members.keys()])
  return { rules, users, members, states: await deps.reader.statesWithPending(identities), now }
}

/** Holds a policy against users and ledger, and makes a plan of what differs. It sends and writes nothing. */
export async function planPolicy(
  opened: OpenedPolicy,
  deps: PlanPolicyDeps,
  { all: wanted = false }: { all?: boolean } = {},
): Promise<PlannedPolicy | NoPolicy> {
  const { rules, memory, today } = opened
  const facts = await factsOf(opened, deps)
  const { states } = facts
  const evaluation = evaluate(facts)
  const { contested, decisions } = evaluation
  if (contested.length > 0) return { status: 'contested', contested }
  const all = wanted || (memory !== null && isReassertDue(memory, rules, today))
  const hasRefused = (decision: Row) => isRefused(decision, { opened, facts })
  const rows = decisions.flatMap((decision) => rowOf(decision, { states, all, hasRefused }))
  const plan = rows.length > 0 ? planOf(rows, { opened, deps, states, all }) : null
  const next = memoryAfter(opened, evaluation)
  const changedToday = changesOn(today, memory, plan?.id)
  const guarded = { guard: rules.policy.guard, changes: plan?.changes ?? [], states, changedToday }
  return { status: 'planned', plan, outside: outsideGuard(guarded), all, evaluation, states, memory: next }
}

type Row = Decision & { limit: number }
type Choosing = { states: ReadonlyMap<string, LimitState>; all: boolean; hasRefused: (row: Row) => boolean }

/** What a decision sends: nothing where the limit stands already, or one made by hand does. */
function rowOf(decision: Decision, { states, all, hasRefused }: Choosing): Row[] {
  const { identity, limit, heldUntil } = decision
  if (limit === null || heldUntil !== null) return []
  const state = states.get(identity)
  const row = { ...decision, limit }
  return !all && ((state?.certain && state.limit === limit) || hasRefused(row)) ? [] : [row]
}

/** Whether the platform refused this very limit a while ago, and its user has been in the list all the time since. */
function isRefused(
  { identity, limit }: Row,
  { opened: { rules, today }, facts }: { opened: OpenedPolicy; facts: PolicyFacts },
): boolean {
  const state = facts.states.get(identity)
  const again = askAgainOn(state, rules.policy.timeZone)
  if (again === null || again <= today || state?.wanted !== limit) return false
  const member = facts.members.get(identity)
  return member !== undefined && member.goneSince === undefined
}

type Planning = {
  opened: OpenedPolicy
  deps: PlanPolicyDeps
  states: ReadonlyMap<string, LimitState>
  all: boolean
}

function planOf(rows: readonly Row[], { opened, deps, states, all }: Planning): Plan {
  const { rules, scan } = opened
  return makePlan({
    source: deps.file ?? policyFile,
    file: {
      rows: rows.map(({ identity, address, limit, line, rule, why, until }) => {
        return { line, identity, address, limit, rule, why, ...(until === undefined ? {} : { until }) }
      }),
      invalid: [],
      aboveMaximum: rows.filter(({ limit }) => limit > deps.rules.maxLimit).map(({ line }) => line),
    },
    states,
    knownUsers: null,
    rules: deps.rules,
    sendsAll: all,
    origin: { sourceKind: 'policy', policyVersion: rules.version, usersScan: scan.scanId },
  })
}

/** Whoever has a limit counts as seen when nothing else is remembered: they may have left before the policy came. */
async function everybodyIn(reader: Pick<LedgerReader, 'allStates'>): Promise<Map<string, Member>> {
  const members = new Map<string, Member>()
  for await (const { identity, address } of reader.allStates()) members.set(identity, { address })
  return members
}

function isReassertDue({ reassertedOn }: PolicyMemory, { policy }: Rules, today: string): boolean {
  const { reassert } = policy
  return reassert !== undefined && reassertedOn !== null && daysAfter(reassertedOn, reassert) <= today
}

function memoryAfter({ memory, facts, today }: OpenedPolicy, { members, nextDay }: Evaluation): PolicyMemory {
  return {
    members: Object.fromEntries([...members].sort(([a], [b]) => (a < b ? -1 : 1))),
    reassertedOn: memory?.reassertedOn ?? today,
    sent: memory?.sent ?? null,
    settled: facts === null ? null : { facts, nextDay },
  }
}

/** The limits that were changed on a day by other plans than this one, which may have been begun before. */
function changesOn(today: string, memory: PolicyMemory | null, planId: string | undefined): number {
  const { day, plans } = memory?.sent ?? { day: '', plans: {} }
  if (day !== today) return 0
  return Object.entries(plans).reduce((sum, [id, count]) => (id === planId ? sum : sum + count), 0)
}

/** What to remember before a plan is sent, so that the guard counts it whatever happens then. */
export function withSent(memory: PolicyMemory, { id, changes }: Plan, today: string): PolicyMemory {
  const before = memory.sent?.day === today ? memory.sent.plans : {}
  return { ...memory, settled: null, sent: { day: today, plans: { ...before, [id]: realChanges(changes).length } } }
}
