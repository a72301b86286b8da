import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { intentsOfPlan } from '../intake/apply-plan.ts'
import { type IntentMessage, type PublishedIntent, publishIntents } from '../intake/publisher.ts'
import type { IntentQueue } from '../ports.ts'
import type { Approval, KeptPlan, PolicyMemory, PolicyStore } from './memory.ts'
import {
  isSettled,
  type NoPolicy,
  type OpenedPolicy,
  openPolicy,
  type PlannedPolicy,
  type PlanPolicyDeps,
  planPolicy,
  withSent,
} from './plan-policy.ts'
import type { Policy } from './policy.ts'

/** Dependencies of keeping a policy. */
export type KeepPolicyDeps = PlanPolicyDeps & {
  store: PolicyStore
  queue: IntentQueue
  /** Messages on the queue that no worker has done yet. */
  queued: () => Promise<number>
  clock: Clock
  random: () => number
  log: Log
  metrics: Metrics
}

/** A plan that is on its way to the platform. */
export type QueuedPlan = { status: 'queued'; kept: KeptPlan; intents: IntentMessage[]; published: PublishedIntent[] }

/** What became of a policy. `settled`, `nothing`: limits are as it says. */
export type KeptPolicy =
  | NoPolicy
  | { status: 'settled' | 'nothing' }
  | { status: 'busy'; messages: number }
  | { status: 'waiting' | 'refused'; kept: KeptPlan }
  | QueuedPlan

/** Who asks for limits that a policy says. */
const requestedBy = 'credit-limit-policy'

/**
 * Keeps a policy true: what it says and what the ledger knows are compared, and the difference is put on the queue, or
 * waits for somebody's approval. Doing it again changes nothing, and where nothing changed it reads next to nothing.
 */
export async function keepPolicy(deps: KeepPolicyDeps, { all = false }: { all?: boolean } = {}): Promise<KeptPolicy> {
  const opened = await openPolicy(deps, deps.clock.now())
  if ('status' in opened) return reported(opened, deps)
  if (!all && isSettled(opened)) return { status: 'settled' }
  const messages = await deps.queued()
  if (messages > 0) return reported({ status: 'busy', messages }, deps)
  const planned = await planPolicy(opened, deps, { all })
  if (planned.status !== 'planned') return reported(planned, deps)
  return reported(await carryOut(planned, opened, { deps, approvedBy: null }), deps)
}

/** What became of an approval. `stale`: facts changed since the plan was made; what became of the new one stands beside it. */
export type ApprovedPolicy =
  | { status: 'not_waiting'; newest: KeptPlan | null }
  | { status: 'busy'; messages: number }
  | { status: 'stale'; result: KeptPolicy }
  | QueuedPlan
  | { status: 'refused'; kept: KeptPlan }

/**
 * Carries out a plan that waits, in the name of whoever approved it. A plan of which anything changed since, the scan of
 * the users included, is not what was approved: it is made anew, and that one waits or goes its way.
 */
export async function approvePlan(
  { planId, approvedBy, reason }: Approval,
  deps: KeepPolicyDeps,
): Promise<ApprovedPolicy> {
  const newest = await deps.store.newest()
  if (newest?.plan.id !== planId || newest.status !== 'waiting') return { status: 'not_waiting', newest }
  const opened = await openPolicy(deps, deps.clock.now())
  if ('status' in opened) return { status: 'stale', result: reported(opened, deps) }
  const messages = await deps.queued()
  if (messages > 0) return { status: 'busy', messages }
  const planned = await planPolicy(opened, deps, { all: newest.all })
  if (planned.status !== 'planned') return { status: 'stale', result: reported(planned, deps) }
  const isSame = planned.plan?.id === planId
  const result = await carryOut(planned, opened, { deps, ...(isSame ? { approvedBy, reason } : { approvedBy: null }) })
  if (!isSame) return { status: 'stale', result: reported(result, deps) }
  return reported(result as QueuedPlan | { status: 'refused'; kept: KeptPlan }, deps)
}

type Carrying = { deps: KeepPolicyDeps; approvedBy: string | null; reason?: string | undefined }

/**
 * The order is the promise: what the guard counts and the plan are kept before anything is sent. A death after that
 * counts a plan that was not sent, which asks for an approval too many, and never for one too few.
 */
async function carryOut(
  planned: PlannedPolicy,
  opened: OpenedPolicy,
  { deps, approvedBy, reason: approvedFor }: Carrying,
): Promise<KeptPolicy> {
  const { plan, outside, all, memory } = planned
  const { now, today, rules } = opened
  const { store, queue, clock, random } = deps
  if (plan === null) {
    await remember(all ? { ...memory, reassertedOn: today } : memory, opened, store)
    return { status: 'nothing' }
  }
  const keep = async (status: KeptPlan['status'], reasons: string[]): Promise<KeptPlan> => {
    const kept = {
      plan,
      status,
      reasons,
      madeAt: new Date(now).toISOString(),
      approvedBy,
      all,
      ...(approvedFor ? { approvedFor } : {}),
    }
    await store.writePlan(kept)
    return kept
  }
  const status = statusOf(planned, { approval: rules.policy.guard.approval, approvedBy })
  if (status !== 'queued') {
    await remember({ ...memory, settled: null }, opened, store)
    return { status, kept: await keep(status, [...plan.refusals, ...outside]) }
  }
  // The guard is for what nobody looks at: what somebody approved takes nothing of the night away.
  const counted = approvedBy === null ? withSent(memory, plan, today) : { ...memory, settled: null }
  await store.writeMemory(counted)
  const kept = await keep('queued', [])
  const by = approvedBy === null ? {} : { approvedBy }
  const intents = intentsOfPlan(plan, { requestedAt: now, requestedBy, ...by })
  const published = await publishIntents(intents, { queue, clock, random })
  if (all) await store.writeMemory({ ...counted, reassertedOn: today })
  return { status, kept, intents, published }
}

/** Says what becomes of a plan: within the guard, or approved, it goes its way. */
export function statusOf(
  { plan, outside }: PlannedPolicy,
  { approval, approvedBy }: { approval: Policy['guard']['approval']; approvedBy: string | null },
): KeptPlan['status'] {
  if (plan !== null && plan.refusals.length > 0) return 'refused'
  if (outside.length === 0 || approvedBy !== null) return 'queued'
  return approval === 'never' ? 'refused' : 'waiting'
}

/** Writes what changed of the memory, if anything did. */
async function remember(memory: PolicyMemory, { memory: before }: OpenedPolicy, store: PolicyStore): Promise<void> {
  if (JSON.stringify(memory) !== JSON.stringify(before)) await store.writeMemory(memory)
}

/** Says in the log and in measurements what became of a policy; nothing of what needs nobody. */
function reported<R extends KeptPolicy>(result: R, { log, metrics }: KeepPolicyDeps): R {
  const { status } = result
  // Nothing is sent where all is well: a measurement costs as much as a month of looking.
  if (status === 'waiting') metrics.count('PolicyPlansWaiting', 1)
  if (failures.has(status)) metrics.count('PolicyFailed', 1)
  if (failures.has(status)) log.error('The policy of credit limits changed nothing.', { status, ...detailsOf(result) })
  else if (status !== 'no_policy')
    log.info('The policy of credit limits was looked at.', { status, ...detailsOf(result) })
  return result
}

const failures: ReadonlySet<KeptPolicy['status']> = new Set(['invalid', 'contested', 'unusable', 'refused'])

function detailsOf(result: KeptPolicy): Record<string, unknown> {
  if ('kept' in result) {
    const { plan, reasons, approvedBy } = result.kept
    return { plan: plan.id, changes: plan.changes.length, reasons: reasons.length, approvedBy }
  }
  const { status, ...details } = result
  return 'contested' in details ? { contested: details.contested.length, rules: details.contested[0]?.rules } : details
}
