import type { Clock } from '../../lib/core/clock.ts'
import { RetryableError } from '../../lib/core/errors.ts'
import { silentLog } from '../../lib/core/log.ts'
import { createRateBudget, type RateBudget } from '../../lib/platform/rate-budget.ts'
import { createOwnRates, type SharedRates } from '../../lib/platform/rates.ts'

/** A time that moves on by itself, from one sleeper to the next. */
export type VirtualTime = {
  now(): number
  /** The time as a clock shows it that is so many milliseconds ahead. */
  clock(aheadMs?: number): Clock
  /** Runs until the given moment. */
  runUntil(end: number): Promise<void>
}

/** More turns than any chain of promises here is long. */
const turns = 40

/** A virtual time that begins at `start`. */
export function createVirtualTime(start = Date.UTC(2026, 4, 6)): VirtualTime {
  let now = start
  const sleepers: { at: number; wake: () => void }[] = []
  const settle = async () => {
    for (let turn = 0; turn < turns; turn++) await Promise.resolve()
  }
  return {
    now: () => now,
    clock: (aheadMs = 0) => ({
      now: () => now + aheadMs,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          signal?.throwIfAborted()
          signal?.addEventListener('abort', () => reject(signal.reason as Error))
          const at = now + Math.max(0, ms)
          const place = sleepers.findIndex((sleeper) => sleeper.at > at)
          sleepers.splice(place === -1 ? sleepers.length : place, 0, { at, wake: resolve })
        }),
    }),
    runUntil: async (end) => {
      await settle()
      for (let next = sleepers[0]; next && next.at <= end; next = sleepers[0]) {
        sleepers.shift()
        now = next.at
        next.wake()
        await settle()
      }
      now = end
    },
  }
}

/** Calls of workers to the place that they share. */
export type Calls = { at: number; worker: number; isNote: boolean }[]

/** The shared place as a worker reaches it: each call takes a while, and fails while `isDown` says so. */
export function reached(
  shared: SharedRates,
  { time, calls, worker, latencyMs, isDown = () => false }: Reach,
): SharedRates {
  const call = async <T>(work: () => Promise<T>, isNote = false): Promise<T> => {
    calls.push({ at: time.now(), worker, isNote })
    await time.clock().sleep(latencyMs / 2)
    if (isDown()) throw new RetryableError('no storage', { code: 'storage_unavailable' })
    const answer = await work()
    await time.clock().sleep(latencyMs / 2)
    return answer
  }
  return {
    look: () => call(() => shared.look()),
    draw: (draw) => call(() => shared.draw(draw)),
    note: (wait, after) => call(() => shared.note(wait, after), true),
  }
}
type Reach = { time: VirtualTime; calls: Calls; worker: number; latencyMs: number; isDown?: () => boolean }

/** One worker: how its clock goes, how many requests it has under way, how long they take, and from when to when it lives. */
export type WorkerPlan = {
  aheadMs: number
  concurrency: number
  requestMs: number
  from: number
  until: number
}

/** A wait that the platform tells the first request that it answers after a moment. */
export type WaitPlan = { after: number; ms: number }

/** What the platform saw: when requests came, and the waits it told. */
export type Seen = {
  sent: { at: number; worker: number }[]
  told: { at: number; ends: number; worker: number }[]
  calls: Calls
}

type Plan = { workers: WorkerPlan[]; waits: WaitPlan[]; rate?: number | undefined; latencyMs: number; endsAt: number }

/** Lets workers ask a platform, and tells what it saw. Moments are milliseconds from the beginning. */
export async function watchWorkers({ workers, waits, rate, latencyMs, endsAt }: Plan): Promise<Seen> {
  const time = createVirtualTime()
  const start = time.now()
  const shared = createOwnRates()
  const seen: Seen = { sent: [], told: [], calls: [] }
  const pending = waits.toSorted((one, other) => one.after - other.after)
  const ask = async (budget: RateBudget, { worker, plan }: { worker: number; plan: WorkerPlan }) => {
    await time.clock().sleep(plan.from)
    const isAlive = () => time.now() - start < plan.until
    while (isAlive()) {
      await budget.admit({ what: 'GET /', remainingMs: () => Number.POSITIVE_INFINITY })
      if (!isAlive()) return
      seen.sent.push({ at: time.now(), worker })
      await time.clock().sleep(plan.requestMs)
      if (!isAlive() || pending[0] === undefined || time.now() - start < pending[0].after) continue
      const { ms } = pending.shift() as WaitPlan
      seen.told.push({ at: time.now(), ends: time.now() + ms, worker })
      // Each of another list: none is refused for itself.
      await budget.told(ms, `list ${pending.length}`)
    }
  }
  for (const [worker, plan] of workers.entries()) {
    const budget = createRateBudget({
      shared: reached(shared, { time, calls: seen.calls, worker, latencyMs }),
      clock: time.clock(plan.aheadMs),
      log: silentLog,
      requestsPerSecond: rate,
    })
    for (let n = 0; n < plan.concurrency; n++) void ask(budget, { worker, plan })
  }
  await time.runUntil(start + endsAt)
  return seen
}

/** By how many requests a window that begins with one and ends with another holds more than `rate` allows for its length, at most. */
export function mostAbove(rate: number, moments: readonly number[]): number {
  let least = Number.POSITIVE_INFINITY
  let most = 0
  for (const [n, at] of moments.entries()) {
    const level = n - (rate * (at - (moments[0] ?? 0))) / 1000
    least = Math.min(least, level)
    most = Math.max(most, level - least + 1)
  }
  return most
}
