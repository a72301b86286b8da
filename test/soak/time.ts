import type { Clock } from '../../lib/core/clock.ts'

/** The one time of the whole world: workers, platform, tables, objects and queues. */
export type WorldTime = {
  now(): number
  /** Moves on, and wakes whoever slept until then, except in processes that are stopped. */
  advance(ms: number): Promise<void>
  /** Moves on at once; who wakes of it runs later. */
  pass(ms: number): void
  /** Moves to a time, if it is not past. */
  reach(at: number): Promise<void>
  /** A process's view: its sleepers wait while it is stopped. */
  clockOf(stopped: { until(): Promise<void> | null }): Clock
  /** Gives the process its own time back. */
  restore(): void
}

/** Who sleeps for no longer than this paces work: time moves on with them. Others watch over something, as a lease. */
const longestPacingMs = 60_000

/** Lets everything that can go on go on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/**
 * Starts the world's time, and puts it in the place of `Date`: the emulators read the time of the process, for what is
 * visible on a queue and for the age of an object.
 */
export function startTime(start: number): WorldTime {
  const Real = globalThis.Date
  let now = start
  const sleepers = new Set<{ at: number; wake: () => void }>()
  const watchers = new WeakSet<AbortSignal>()
  const pass = (ms: number) => {
    now += Math.max(0, ms)
    for (const sleeper of sleepers) {
      if (sleeper.at > now) continue
      sleepers.delete(sleeper)
      sleeper.wake()
    }
  }
  const advance = async (ms: number) => {
    pass(ms)
    await settle()
  }
  const sleepUntil = (at: number, signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      const sleeper = { at, wake: resolve }
      sleepers.add(sleeper)
      signal?.addEventListener('abort', () => {
        sleepers.delete(sleeper)
        reject(signal.reason as Error)
      })
    })
  /** A watcher that wakes early sleeps for the rest, however short: that is no reason for time to pass. */
  const watches = (ms: number, signal: AbortSignal | undefined) => {
    if (ms > longestPacingMs && signal) watchers.add(signal)
    return ms > longestPacingMs || (signal !== undefined && watchers.has(signal))
  }
  globalThis.Date = dateAt(Real, () => now)
  return {
    now: () => now,
    pass,
    advance,
    reach: (at) => advance(at - now),
    clockOf: ({ until }) => ({
      now: () => now,
      sleep: async (ms, signal) => {
        signal?.throwIfAborted()
        const at = now + ms
        if (watches(ms, signal)) await sleepUntil(at, signal)
        else await advance(at - now)
        // A timer of a stopped process fires when it goes on, and after what it was about to do.
        if (until()) await Promise.resolve(until()).then(settle)
      },
    }),
    restore: () => {
      globalThis.Date = Real
    },
  }
}

function dateAt(Real: DateConstructor, now: () => number): DateConstructor {
  return new Proxy(Real, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new Real(now()).toString(),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  })
}
