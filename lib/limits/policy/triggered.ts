import { RetryableError } from '../../core/errors.ts'
import { policyPlaces } from '../inbox-places.ts'
import { type ApprovedPolicy, approvePlan, type KeepPolicyDeps, type KeptPolicy, keepPolicy } from './keep-policy.ts'

/**
 * Keeps the policy because something happened: a run ended (no key), or an object came into the inbox bucket. The one of an
 * approval lets its plan go; any other is a part of the policy.
 * @throws RetryableError when messages are on the queue still, which may be newer than what the policy knows.
 */
export async function applyTriggered(key: string | null, deps: KeepPolicyDeps): Promise<{ status: string }> {
  const result = await resultOf(key, deps)
  if (result.status !== 'busy') return { status: result.status }
  const what = `${result.messages} messages with credit limits are on the queue; the policy waits until they are done`
  throw new RetryableError(what, { code: 'storage_unavailable' })
}

async function resultOf(key: string | null, deps: KeepPolicyDeps): Promise<KeptPolicy | ApprovedPolicy> {
  if (key === null || !key.startsWith(policyPlaces.approvals)) return keepPolicy(deps)
  const planId = key.slice(policyPlaces.approvals.length).replace(/\.json$/, '')
  const approval = await deps.store.approval(planId)
  if (approval?.planId === planId) return approvePlan(approval, deps)
  deps.log.warn('An approval names no plan.', { key })
  return { status: 'not_waiting', newest: null }
}
