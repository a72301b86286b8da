import type { Clock } from '../core/clock.ts'
import { SyncError } from '../core/errors.ts'
import { LaterFormError } from '../core/form.ts'
import type { Log } from '../core/log.ts'
import type { SharedRate, SharedRates } from './rates.ts'
import { firstSize, type Slice, sliceMs } from './slices.ts'
import { freshMs, type Held, heldBy, longestSharedMs, mostInARow, type WaitsInARow } from './told-waits.ts'

/** What a budget needs. Without `requestsPerSecond` there are only waits to keep. */
export type BudgetDeps = {
  shared: SharedRates
  clock: Clock
  log: Log
  requestsPerSecond?: number | undefined
}

/** What one worker knows of the budget. Its times are those of its own clock. */
type State = {
  /** By how much its clock is behind the fastest that it heard of: all go by that one. */
  behindMs: number
  lookedAt: number | null
  /** From when on the next call to the shared place may be made: each one costs a second. */
  nextCallAt: number
  held: Held
  /** Until when the platform told this worker itself to wait. */
  toldUntil: number
  /** What it saw of each list itself: waits since the last answer, and when the last one ends. */
  waits: Map<string, { inARow: number; endsAt: number }>
  /** What others saw before it. */
  inARow: WaitsInARow
  /** The wait that it has seen. */
  serial: number
  slice: Slice | null
  size: number
  /** In what time the schedule of all came to the last slice. */
  turnInMs: number
  /** Requests that wait for a token. */
  waiting: number
  /** A call that is under way. */
  calling: Promise<void> | null
  noting: Promise<unknown>
  saidTrouble: boolean
}

/** One worker of the budget, which may have many requests under way. */
export type BudgetWorker = BudgetDeps & { readonly state: State }

/** Before any moment. */
const never = Number.NEGATIVE_INFINITY

/** A worker that knows nothing yet. */
export function newWorker(deps: BudgetDeps): BudgetWorker {
  const state: State = {
    behindMs: 0,
    lookedAt: null,
    nextCallAt: never,
    held: { endsAt: never, holdUntil: never, coveredUntil: never },
    toldUntil: never,
    waits: new Map(),
    inARow: {},
    serial: 0,
    slice: null,
    size: firstSize,
    turnInMs: 0,
    waiting: 0,
    calling: null,
    noting: Promise.resolve(),
    saidTrouble: false,
  }
  return { ...deps, state }
}

/** The time that all workers go by. */
export function budgetNow({ clock, state }: BudgetWorker): number {
  return clock.now() + state.behindMs
}

/** Makes a call to the shared place that other requests of this worker wait for instead of making their own. */
export function callOnce({ state }: BudgetWorker, call: () => Promise<unknown>): Promise<void> {
  const calling = call().then(() => {})
  state.calling = calling.finally(() => {
    state.calling = null
  })
  return state.calling
}

/** Counts calls, so that there is one a second in the long run. */
export function countCalls({ clock, state }: BudgetWorker, calls: number): void {
  state.nextCallAt = Math.max(clock.now(), state.nextCallAt) + calls * sliceMs
}

/** Takes in what the shared place says. */
export function learn(worker: BudgetWorker, { drawnAt, wait }: SharedRate): void {
  const { clock, state } = worker
  const now = clock.now()
  const latest = Math.max(drawnAt ?? never, wait?.from ?? never)
  state.behindMs = Math.max(state.behindMs, latest - now)
  if (wait && wait.serial !== state.serial) {
    const held = heldBy(wait, { now, lookedAt: state.lookedAt, budgetNow: budgetNow(worker) })
    state.held = { ...held, holdUntil: Math.max(state.held.holdUntil, held.holdUntil) }
    Object.assign(state, { serial: wait.serial, inARow: wait.inARow })
  }
  state.lookedAt = now
}

/**
 * Looks for waits of others, unless what it knows is fresh for as long as the slice lasts: a draw brings them along, and a
 * look in the middle of a slice would take its place.
 */
export async function lookAgain(worker: BudgetWorker): Promise<void> {
  const { clock, shared, state } = worker
  if (state.calling) await state.calling
  const now = clock.now()
  const knowsEnough = state.lookedAt !== null && Math.max(now, state.slice?.endsAt ?? now) - state.lookedAt <= freshMs
  if (knowsEnough || now < state.nextCallAt) return
  await callOnce(worker, () =>
    unlessTrouble(worker, async () => {
      const seen = await shared.look()
      countCalls(worker, 1)
      learn(worker, seen)
    }),
  )
}

/**
 * Makes a wait hold for all, unless it is its list's own. One note at a time: it stands for all that was told while others
 * were being written.
 */
export async function noteWait(worker: BudgetWorker, waitMs: number, list: string): Promise<void> {
  const { clock, state } = worker
  const endsAt = clock.now() + waitMs
  if (waitMs > longestSharedMs || countWait(state, { list, endsAt, now: clock.now() }) > mostInARow) return
  state.toldUntil = Math.max(state.toldUntil, endsAt)
  state.held.holdUntil = Math.max(state.held.holdUntil, endsAt)
  const before = state.noting
  state.noting = before.then(() => unlessTrouble(worker, () => note(worker, endsAt)))
  await state.noting
}

type Told = { list: string; endsAt: number; now: number }

/** The waits in a row of a list, this one included; what many requests are told at once is one wait. */
function countWait(state: State, { list, endsAt, now }: Told): number {
  const before = state.waits.get(list) ?? { inARow: state.inARow[list] ?? 0, endsAt: never }
  const inARow = now < before.endsAt ? before.inARow : before.inARow + 1
  state.waits.set(list, { inARow, endsAt: Math.max(endsAt, before.endsAt) })
  return inARow
}

function waitsInARow({ waits, inARow }: State): WaitsInARow {
  return { ...inARow, ...Object.fromEntries([...waits].map(([list, own]) => [list, own.inARow])) }
}

const noteTries = 3

async function note(worker: BudgetWorker, endsAt: number): Promise<void> {
  const { clock, shared, state } = worker
  for (let tries = 0; tries < noteTries && state.held.coveredUntil < endsAt; tries++) {
    // What it stands in place of may end later than what this worker was told.
    const until = Math.max(state.toldUntil, state.held.endsAt)
    const wait = { from: budgetNow(worker), ms: until - clock.now(), inARow: waitsInARow(state) }
    if (await shared.note(wait, state.serial)) {
      countCalls(worker, 1)
      Object.assign(state.held, { endsAt: until, coveredUntil: until })
      state.serial += 1
    } else {
      const seen = await shared.look()
      countCalls(worker, 2)
      learn(worker, seen)
    }
  }
}

/**
 * What the work answers; null when storage is in trouble, which is told once and stops no request.
 * @throws LaterFormError when the others go by a rate that this worker can't read: at its own, all would be too fast.
 */
export async function unlessTrouble<T>(worker: BudgetWorker, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SyncError) || error instanceof LaterFormError) throw error
    const { log, state } = worker
    countCalls(worker, 1)
    if (!state.saidTrouble) {
      log.warn('The rate that all workers share could not be read or written; this one goes on at the rate it had.', {
        reason: error.message,
      })
    }
    state.saidTrouble = true
    return null
  }
}
