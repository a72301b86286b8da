import { type ApprovedPolicy, approvePlan, type KeepPolicyDeps, type KeptPolicy } from '../limits/policy/keep-policy.ts'
import type { Approval, KeptPlan } from '../limits/policy/memory.ts'
import type { Cli } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { followPlan, type Waiting } from './limits-apply.ts'
import { shownRows } from './limits-plan.ts'
import { sayIdle, sayKeptPlan, sayNoPolicy, sayWaits } from './limits-policy-say.ts'
import type { LimitsWorkspace } from './limits-workspace.ts'
import type { Output } from './output.ts'

/** `policy` is the path that somebody named; without one the policy is that of the inbox bucket. */
type Here = Waiting & { opened: LimitsWorkspace; policy: string | undefined }

/** Says what became of a policy, and follows what was sent to its outcomes. */
export async function sayKept(kept: KeptPolicy, cli: Cli, here: Here): Promise<ExitCode> {
  const { io } = here
  if (kept.status === 'queued') {
    sayKeptPlan(kept.kept, { io, most: shownRows })
    io.say()
    return (await followPlan({ plan: kept.kept.plan, ...kept }, cli, here)).code
  }
  io.result(kept)
  const idle = sayIdle(kept, io)
  if (idle !== null) return idle
  if (kept.status === 'waiting' || kept.status === 'refused') {
    sayKeptPlan(kept.kept, { io, most: shownRows })
    if (kept.status !== 'waiting') return exitCodes.failed
    sayWaits(kept.kept, here.policy, io)
    return exitCodes.partly
  }
  return sayNoPolicy(kept as Parameters<typeof sayNoPolicy>[0], io)
}

/** Approves a plan and carries it out, with the worker on this machine. */
export async function approveHere(
  approval: Approval,
  cli: Cli,
  { deps, ...here }: Here & { deps: KeepPolicyDeps },
): Promise<ExitCode> {
  await deps.store.writeApproval(approval)
  const approved = await approvePlan(approval, deps)
  return sayApproved(approved, cli, here)
}

async function sayApproved(approved: ApprovedPolicy, cli: Cli, here: Here): Promise<ExitCode> {
  const { io } = here
  if (approved.status === 'not_waiting') {
    io.result(approved)
    return sayNotWaiting(approved.newest, io)
  }
  if (approved.status !== 'stale') return sayKept(approved, cli, here)
  if (approved.result.status === 'no_policy') {
    io.result(approved.result)
    io.say('Nothing was approved: the policy is not in the inbox bucket. Name its file: --policy FILE')
    return exitCodes.usage
  }
  io.say('The plan is older than what is known now: the users, the policy or the limits changed. It was made anew:\n')
  const code = await sayKept(approved.result, cli, here)
  return code === exitCodes.complete ? exitCodes.partly : code
}

/** Leaves an approval for the function that carries it out: that is all an approver needs to be allowed to do. */
export async function approveThere(approval: Approval, { store }: KeepPolicyDeps, io: Output): Promise<ExitCode> {
  const newest = await store.newest()
  if (newest?.plan.id !== approval.planId || newest.status !== 'waiting') {
    io.result({ status: 'not_waiting', newest })
    return sayNotWaiting(newest, io)
  }
  await store.writeApproval(approval)
  io.result(approval)
  io.say(
    `Approved as ${approval.approvedBy}. The function apply-credit-policy carries it out: see "limits outcomes" in a minute.`,
  )
  return exitCodes.complete
}

function sayNotWaiting(newest: KeptPlan | null, io: Output): ExitCode {
  io.say(
    newest === null
      ? 'No plan of a policy was ever made.'
      : `That plan does not wait. The newest is ${newest.plan.id}, ${newest.status}.`,
  )
  return exitCodes.failed
}
