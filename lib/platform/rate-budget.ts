import { RetryableError } from '../core/errors.ts'
import type { Patience } from '../core/patience.ts'
import { sleepUnless } from '../core/retry.ts'
import {
  type BudgetDeps,
  type BudgetWorker,
  budgetNow,
  callOnce,
  countCalls,
  learn,
  lookAgain,
  newWorker,
  noteWait,
  unlessTrouble,
} from './budget-worker.ts'
import { leadMs, lengthOf, mostTokens, nextSize, sliceMs, sliceOf, takeToken } from './slices.ts'

/** A request that wants to be sent, and how long it may wait for that. */
export type Turn = {
  /** The request in messages: "GET /api/v0/sessions". */
  readonly what: string
  readonly remainingMs: () => number
  readonly signal?: AbortSignal | undefined
  /** What is left for waits that the platform dictates; turns at this installation's own rate are no such waits. */
  readonly patience?: Patience | undefined
}

/** The rate at which all workers of an API key together ask the platform, and the waits that it told any of them. */
export type RateBudget = {
  /**
   * Returns when the request may be sent.
   * @throws RetryableError `rate_limited` with `retryAfterMs` when that is later than the request can wait; the signal's reason.
   */
  admit(turn: Turn): Promise<void>
  /** Makes a wait that the platform asked for hold for all workers, unless it is about that list alone. */
  told(waitMs: number, list: string): Promise<void>
  /** Says that a list gave an answer: what it is told later begins anew. */
  answered(list: string): void
}

/**
 * The budget as one worker sees it, which may have many requests under way. It draws slices of the schedule that all share, a
 * second's worth at most, and looks for others' waits, at one call a second (docs/decisions/rate-budget.md).
 */
export function createRateBudget(deps: BudgetDeps): RateBudget {
  const worker = newWorker(deps)
  return {
    admit: (turn) => admit(turn, worker),
    told: (waitMs, list) => noteWait(worker, waitMs, list),
    answered: (list) => void worker.state.waits.set(list, { inARow: 0, endsAt: worker.clock.now() }),
  }
}

async function admit(turn: Turn, worker: BudgetWorker): Promise<void> {
  const { clock, state, requestsPerSecond } = worker
  for (let token: number | null = null; ; ) {
    turn.signal?.throwIfAborted()
    const heldMs = state.held.holdUntil - clock.now()
    if (heldMs > 0) {
      // A token that was drawn before a wait would come on top of others' ones after it.
      token = null
      await waitOut(heldMs, turn, worker)
      continue
    }
    if (requestsPerSecond !== undefined) token ??= await tokenOf(worker, { turn, requestsPerSecond })
    const earlyMs = (token ?? Number.NEGATIVE_INFINITY) - clock.now()
    if (earlyMs > 0) await pause(earlyMs, turn, worker)
    await lookAgain(worker)
    if (state.held.holdUntil <= clock.now()) return turn.signal?.throwIfAborted()
  }
}

async function waitOut(ms: number, { what, patience, remainingMs, signal }: Turn, { clock }: BudgetWorker) {
  if (ms >= remainingMs() || (patience && ms > patience.remainingMs())) throw heldBack(what, ms)
  patience?.spend(ms)
  await sleepUnless(signal, clock, ms)
}

async function pause(ms: number, { what, remainingMs, signal }: Turn, { clock }: BudgetWorker) {
  if (ms >= remainingMs()) throw comesLate(what, ms)
  await sleepUnless(signal, clock, ms)
}

type Drawing = { turn: Turn; requestsPerSecond: number }

/** Takes a token out of the worker's slice, and draws another slice when that one is used up or over. */
async function tokenOf(worker: BudgetWorker, { turn, requestsPerSecond }: Drawing): Promise<number> {
  const { clock, state } = worker
  state.waiting += 1
  try {
    for (;;) {
      const token = state.slice && takeToken(state.slice, clock.now())
      if (token !== null) return token
      const earlyMs = state.nextCallAt - clock.now()
      if (state.calling) await state.calling
      else if (earlyMs > 0) await pause(earlyMs, turn, worker)
      else await callOnce(worker, () => draw(worker, requestsPerSecond))
      turn.signal?.throwIfAborted()
    }
  } finally {
    state.waiting -= 1
  }
}

async function draw(worker: BudgetWorker, requestsPerSecond: number): Promise<void> {
  const { clock, shared, state } = worker
  const { size, slice, turnInMs, waiting } = state
  const most = mostTokens(requestsPerSecond)
  const tokens = nextSize({ size, used: slice?.taken, queuedMs: turnInMs - leadMs, waiting, most })
  const lengthMs = lengthOf(tokens, requestsPerSecond)
  const drawn = await unlessTrouble(worker, async () => {
    const { startsAt, seen, calls } = await shared.draw({ now: budgetNow(worker), lengthMs, queued: turnInMs > 0 })
    countCalls(worker, calls)
    learn(worker, seen)
    state.turnInMs = Math.max(0, startsAt - budgetNow(worker))
    return sliceOf(clock.now() + Math.max(0, state.turnInMs - leadMs), { tokens, lengthMs })
  })
  state.size = tokens
  // In trouble nobody knows what others take: this worker goes on at the rate that it had.
  state.slice = drawn ?? sliceOf(clock.now(), { tokens, lengthMs: Math.max(sliceMs, lengthMs) })
}

function heldBack(what: string, waitMs: number) {
  return new RetryableError(
    `${what} was not sent: the platform told a worker with the same API key to wait, and that holds for all of them. Try ` +
      'again when the wait is over.',
    { code: 'rate_limited', retryAfterMs: waitMs },
  )
}

function comesLate(what: string, waitMs: number) {
  return new RetryableError(
    `${what} was not sent: its turn, at the rate that platform.requestsPerSecond sets for all workers together, comes too ` +
      'late. Try again then; with fewer workers at a time, or a higher rate, turns come sooner.',
    { code: 'rate_limited', retryAfterMs: waitMs },
  )
}
