import { SingleBar } from 'cli-progress'
import { RejectedError } from '../core/errors.ts'
import { appliedBefore, checkPlan, followIntents, intentsOfPlan, outcomesSoFar } from '../limits/intake/apply-plan.ts'
import { type Plan, withSame } from '../limits/intake/plan.ts'
import { type IntentMessage, type PublishedIntent, publishIntents } from '../limits/intake/publisher.ts'
import type { LimitOutcome } from '../streams/limit-outcome.ts'
import type { Cli } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { failedIntents, sayFailedIntents } from './limits-failures.ts'
import { exitCodeOfTally, sayTally, tallyOf } from './limits-outcomes.ts'
import { accountName, type LimitsWorkspace, withWorker } from './limits-workspace.ts'
import { number, type Output, type Terminal, time } from './output.ts'

/** The result of applying a plan. */
export type AppliedPlan = { code: ExitCode; outcomes: LimitOutcome[] }

/** Where outcomes are told, and how long to wait for them. */
export type Waiting = { io: Output; waitMs: number }

/** How a plan is applied: in whose name and why, for the record. */
type Applying = Waiting & { opened: LimitsWorkspace; all?: boolean; as?: string; reason?: string }

/**
 * Applies a plan and no other: puts its changes on the queue, follows them to their ends, and says what became of them.
 * With `all` it also sends the rows that stand already.
 * @throws RejectedError when it was applied before, or the ledger is no longer where the plan found it.
 */
export async function applyPlan(
  plan: Plan,
  cli: Cli,
  { opened, io, waitMs, all = false, as = accountName(), reason }: Applying,
): Promise<AppliedPlan> {
  const { limits } = opened
  await checkNotApplied(plan, limits)
  const asked = { requestedAt: cli.clock.now(), requestedBy: as, reason }
  const intents = intentsOfPlan(all ? withSame(plan) : plan, asked)
  const { queue, clock } = limits
  const published = await publishIntents(intents, { queue, clock, random: Math.random })
  return followPlan({ plan, intents, published }, cli, { opened, io, waitMs })
}

/** Follows a plan whose intents are on the queue to the end of each entry, and says what became of them. */
export async function followPlan(
  { plan, intents, published }: { plan: Plan; intents: IntentMessage[]; published: PublishedIntent[] },
  cli: Cli,
  { opened, io, waitMs }: Waiting & { opened: LimitsWorkspace },
): Promise<AppliedPlan> {
  const { reader } = opened.limits
  const sent = intents.reduce((sum, { limits }) => sum + limits.length, 0)
  io.say(`Plan ${plan.id} of ${plan.source}: ${number(sent)} changes in ${number(intents.length)} messages.\n`)
  const followed = await withWorker(opened, (worker) => {
    const signals = [cli.interrupted, ...(worker ? [worker.stuck] : [])]
    return follow(intents, { opened, stderr: cli.stderr, signal: AbortSignal.any(signals), waitMs })
  })
  // A worker on this machine ends the batch under way after nobody follows it any more.
  const outcomes = followed.length < sent ? await outcomesSoFar(intents, reader) : followed
  const tally = tallyOf(outcomes, sent)
  if (sent > 0) sayTally(outcomes, { tally, io })
  const failed = tally.waiting > 0 ? await failedIntents(waitingOf(published, intents, outcomes), reader) : []
  if (tally.waiting > 0) sayWaiting(opened, io, cli.interrupted.aborted)
  sayFailedIntents(failed, { io, most: 20 })
  io.result({ plan: plan.id, requests: intents.map(({ requestId }) => requestId), tally, outcomes, failed })
  return { code: cli.interrupted.aborted ? exitCodes.interrupted : exitCodeOfTally(tally), outcomes }
}

/** Checks a plan; of one that may not be applied since it was, it says that. */
async function checkNotApplied(plan: Plan, limits: LimitsWorkspace['limits']): Promise<void> {
  try {
    await checkPlan(plan, limits)
  } catch (error) {
    const before = error instanceof RejectedError ? await appliedBefore(plan, limits.reader) : null
    if (!before) throw error
    const when = time(Date.parse(before.requestedAt))
    const message = `Plan ${plan.id} was applied already: on ${when}, by ${before.requestedBy}. Nothing was sent. "limits outcomes" tells what became of it; to set its limits again, plan ${plan.source} again.`
    throw new RejectedError(message, { code: 'bad_request', cause: error })
  }
}

/** The messages with entries that have no outcome: others may have failed before they were applied. */
function waitingOf(
  published: readonly PublishedIntent[],
  intents: readonly IntentMessage[],
  outcomes: readonly LimitOutcome[],
): PublishedIntent[] {
  const left = new Map(intents.map(({ requestId, limits }) => [requestId, limits.length]))
  for (const { requestId } of outcomes) left.set(requestId, (left.get(requestId) ?? 0) - 1)
  return published.filter(({ requestId }) => (left.get(requestId) ?? 0) > 0)
}

function sayWaiting({ workspace }: LimitsWorkspace, io: Output, interrupted: boolean): void {
  if (interrupted) {
    const goesOn =
      workspace.folder === null
        ? 'They are on the queue, and the function goes on with them.'
        : 'They stay on the queue, and the next "limits apply --local" goes on with them.'
    io.say(`\nSome entries have no outcome yet. ${goesOn} A newer plan for the same addresses overrides them.`)
    return
  }
  const next =
    workspace.folder === null
      ? 'They are on the queue, or among the dead letters. When the cause is mended, "limits redrive" goes on with those.'
      : 'They are on the queue; "limits redrive --local" goes on with them when the cause is mended.'
  io.say(`\nSome entries have no outcome yet. ${next}`)
}

type Following = { opened: LimitsWorkspace; stderr: Terminal; signal: AbortSignal; waitMs: number }

async function follow(
  intents: readonly IntentMessage[],
  { opened, stderr, ...until }: Following,
): Promise<LimitOutcome[]> {
  const { reader, clock } = opened.limits
  const total = intents.reduce((sum, intent) => sum + intent.limits.length, 0)
  if (total === 0) return []
  const ended = new AbortController()
  const timeout = new AbortController()
  clock.sleep(until.waitMs, ended.signal).then(
    () => timeout.abort(),
    () => {},
  )
  const signal = AbortSignal.any([until.signal, timeout.signal])
  const bar = createBar(stderr, total)
  const outcomes: LimitOutcome[] = []
  try {
    for await (const some of followIntents(intents, { reader, clock, signal, pauseMs: 200 })) {
      outcomes.push(...some)
      bar.update(outcomes.length)
    }
    return outcomes
  } finally {
    ended.abort()
    bar.stop()
  }
}

/** A bar on a terminal, and a line now and then elsewhere. */
function createBar(stderr: Terminal, total: number): { update(done: number): void; stop(): void } {
  if (!stderr.isTTY) {
    let said = 0
    const update = (done: number) => {
      if (done < total && done - said < total / 4) return
      said = done
      stderr.write(`${number(done)} of ${number(total)} limits have their outcome\n`)
    }
    return { update, stop: () => {} }
  }
  const bar = new SingleBar({
    stream: stderr as NodeJS.WritableStream,
    format: 'limits {bar} {value} of {total}',
    ...{ barsize: 20, hideCursor: true, clearOnComplete: true, linewrap: false },
  })
  bar.start(total, 0)
  return { update: (done) => bar.update(done), stop: () => bar.stop() }
}
