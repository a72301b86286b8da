import type { Command } from 'commander'
import { SyncError } from '../core/errors.ts'
import { identityOf } from '../limits/email.ts'
import { action, type Cli, type CommonOptions, wholeNumber, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { LimitsWorkspace } from './limits-workspace.ts'
import type { Output } from './output.ts'

/** Adds the commands `limits policy ...` and `limits approve`. */
export function addLimitsPolicy(limits: Command, cli: Cli): void {
  const policy = limits.command('policy').description('keep limits as a policy says: who gets what, by rules')
  const file = 'the policy; without it that of the inbox bucket, policy/policy.yaml'
  withLocal(policy.command('check'))
    .description('say every mistake of a policy with line and column, and what everybody would get')
    .argument('[file]', file)
    .option('--explain <address>', 'say which rule decides on one person, and why')
    .option('--all', 'list everybody')
    .action(action<CheckOptions, [string?]>(cli, (io, options, path) => check(cli, io, { ...options, path })))
  withLocal(policy.command('plan'))
    .description('say what a policy would change; nothing is sent, nothing is kept')
    .argument('[file]', file)
    .option('--all', 'list every change')
    .action(action<{ all?: boolean }, [string?]>(cli, (io, options, path) => plan(cli, io, { ...options, path })))
  withWait(withLocal(policy.command('apply')))
    .description('send what a policy changes, within its guard; outside of it the plan waits for "limits approve"')
    .argument('[file]', file)
    .option('--all', 'send limits that stand already, too')
    .action(action<ApplyOptions, [string?]>(cli, (io, options, path) => apply(cli, io, { ...options, path })))
  withWait(withLocal(limits.command('approve')))
    .description('approve a plan of a policy that waits, in your name')
    .argument('<plan>', 'the id of the plan')
    .option('--policy <file>', file)
    .option('--as <name>', 'who approves, for the record (the account on this machine)')
    .option('--reason <text>', 'why, for the record')
    .action(action<ApproveOptions, [string]>(cli, (io, options, id) => approve(cli, io, { ...options, id })))
}

type CheckOptions = { explain?: string; all?: boolean }
type ApplyOptions = { all?: boolean; wait: number }
type ApproveOptions = { policy?: string; wait: number; as?: string; reason?: string }
type Path = { path?: string | undefined }

function withWait(command: Command): Command {
  return command.option('--wait <minutes>', 'how long to wait for outcomes', wholeNumber({ min: 1, max: 720 }), 15)
}

/** Opens what the commands of policies work with. */
async function withPolicy<T>(
  cli: Cli,
  { io, options, path, ...access }: { io: Output; options: CommonOptions; platform: boolean; looks?: boolean } & Path,
  work: (opened: LimitsWorkspace, deps: ReturnType<PolicyDeps>) => Promise<T>,
): Promise<T> {
  const { withLimits } = await import('./limits-workspace.ts')
  const { openPolicyRoot, policyAt } = await import('./limits-policy-folder.ts')
  return withLimits(cli, { io, options, ...access }, (opened) =>
    work(opened, openPolicyRoot(opened).policyDeps(path === undefined ? null : policyAt(path))),
  )
}
type PolicyDeps = import('../compose/limits-policy.ts').PolicyRoot['policyDeps']

/** Mistakes of a file are told without anything being set up: whoever writes a policy need not reach AWS. */
async function check(cli: Cli, io: Output, options: CommonOptions & CheckOptions & Path): Promise<ExitCode> {
  const { path } = options
  if (path === undefined) return checkAgainstUsers(cli, io, options)
  const { loadPolicy } = await import('../limits/policy/load-policy.ts')
  const { policyAt } = await import('./limits-policy-folder.ts')
  const { sayNoPolicy } = await import('./limits-policy-say.ts')
  const { folder, file } = policyAt(path)
  const loaded = await loadPolicy(folder, file)
  if (loaded === null || 'faults' in loaded) {
    const none = loaded === null ? ({ status: 'no_policy' } as const) : { status: 'invalid' as const, ...loaded }
    io.result(none)
    return sayNoPolicy(none, io)
  }
  const { version, groups, overrides } = loaded.rules
  io.say(
    `${file} has no mistakes in its text: version ${version}, ${groups.length} groups, people with overrides: ${overrides.size}.\n`,
  )
  try {
    return await checkAgainstUsers(cli, io, options)
  } catch (error) {
    if (!(error instanceof SyncError) || error.code !== 'configuration') throw error
    io.note(
      'The users are not known here, so that nobody can be named: add --local, or set the variables of the stack.',
    )
    io.result({ version, faults: [] })
    return options.explain === undefined ? exitCodes.complete : exitCodes.usage
  }
}

async function checkAgainstUsers(
  cli: Cli,
  io: Output,
  options: CommonOptions & CheckOptions & Path,
): Promise<ExitCode> {
  const { openPolicy, factsOf } = await import('../limits/policy/plan-policy.ts')
  const { evaluate } = await import('../limits/policy/evaluate.ts')
  const { unmetBy } = await import('../limits/policy/rules.ts')
  const say = await import('./limits-policy-say.ts')
  return withPolicy(cli, { io, options, path: options.path, platform: false, looks: true }, async (_opened, deps) => {
    const opened = await openPolicy(deps, cli.clock.now())
    if ('status' in opened) {
      io.result(opened)
      return say.sayNoPolicy(opened, io)
    }
    const facts = await factsOf(opened, deps)
    const evaluation = evaluate(facts)
    const { decisions, contested } = evaluation
    io.result({ version: opened.rules.version, decisions, contested, unmet: unmetBy(facts.users, opened.rules) })
    if (options.explain !== undefined) return say.sayExplanation(identityOf(options.explain), evaluation, io)
    const most = options.all ? Number.POSITIVE_INFINITY : 5
    say.sayEvaluation(evaluation, { io, users: facts.users, rules: opened.rules, most })
    if (contested.length > 0) {
      io.say()
      say.sayContested(contested, io, options.all ? Number.POSITIVE_INFINITY : 20)
    }
    return contested.length > 0 ? exitCodes.failed : exitCodes.complete
  })
}

async function plan(cli: Cli, io: Output, options: CommonOptions & { all?: boolean } & Path): Promise<ExitCode> {
  const { openPolicy, planPolicy } = await import('../limits/policy/plan-policy.ts')
  const { statusOf } = await import('../limits/policy/keep-policy.ts')
  const { sayKeptPlan, sayNextOfPolicy, sayNoPolicy, sayWaits } = await import('./limits-policy-say.ts')
  const { shownRows } = await import('./limits-plan.ts')
  return withPolicy(cli, { io, options, path: options.path, platform: false, looks: true }, async (_opened, deps) => {
    const now = cli.clock.now()
    const opened = await openPolicy(deps, now)
    const planned = 'status' in opened ? opened : await planPolicy(opened, deps)
    if (planned.status !== 'planned' || 'status' in opened) {
      io.result(planned)
      return planned.status === 'planned' ? exitCodes.complete : sayNoPolicy(planned, io)
    }
    const { plan, outside } = planned
    if (plan === null) {
      io.result({ plan })
      io.say('Everybody has what the policy says.')
      return exitCodes.complete
    }
    const status = statusOf(planned, { approval: opened.rules.policy.guard.approval, approvedBy: null })
    io.result({ ...plan, status, reasons: outside })
    const kept = { plan, status, reasons: outside, madeAt: new Date(now).toISOString(), approvedBy: null, all: false }
    sayKeptPlan(kept, { io, most: options.all ? Number.POSITIVE_INFINITY : shownRows })
    const newest = status === 'waiting' ? await deps.store.newest() : null
    if (newest?.status === 'waiting' && newest.plan.id === plan.id) sayWaits(newest, options.path, io)
    else sayNextOfPolicy(kept, options.path, io)
    return status === 'refused' ? exitCodes.failed : exitCodes.complete
  })
}

async function apply(cli: Cli, io: Output, options: CommonOptions & ApplyOptions & Path): Promise<ExitCode> {
  const { keepPolicy } = await import('../limits/policy/keep-policy.ts')
  const { withWorker } = await import('./limits-workspace.ts')
  const { sayKept } = await import('./limits-policy-apply.ts')
  return withPolicy(cli, { io, options, path: options.path, platform: true }, async (opened, deps) => {
    // What an interrupted command left on this machine's queue comes first.
    if (opened.workspace.folder !== null && (await deps.queued()) > 0) {
      await withWorker(opened, async (worker) => worker?.drained())
    }
    const kept = await keepPolicy(deps, { all: options.all === true })
    return sayKept(kept, cli, { opened, io, policy: options.path, waitMs: options.wait * 60_000 })
  })
}

async function approve(
  cli: Cli,
  io: Output,
  options: CommonOptions & ApproveOptions & { id: string },
): Promise<ExitCode> {
  const { approveHere, approveThere } = await import('./limits-policy-apply.ts')
  const { accountName } = await import('./limits-workspace.ts')
  return withPolicy(cli, { io, options, path: options.policy, platform: true }, async (opened, deps) => {
    const waiting = { opened, io, policy: options.policy, waitMs: options.wait * 60_000 }
    const { id: planId, as, reason } = options
    const approval = { planId, approvedBy: as || accountName(), ...(reason ? { reason } : {}) }
    return opened.workspace.folder === null
      ? approveThere(approval, deps, io)
      : approveHere(approval, cli, { ...waiting, deps })
  })
}
