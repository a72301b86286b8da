import type { Clock } from '../../../lib/core/clock.ts'

/** The time of a world: it stands still until it is moved. */
export type Time = {
  now(): number
  /** Moves on, and wakes whoever slept until then, except in processes that are paused. */
  advance(ms: number): Promise<void>
  /** A process's view: its sleepers wait while it is paused. */
  clockOf(pause: { until(): Promise<void> | null }): Clock
}

/** Waits up to this long are over at once: they pace work and mean nothing to these tests. */
const longestPacingMs = 60_000

/** Lets everything that can go on go on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A time that begins at `start` (Unix ms). */
export function createTime(start: number): Time {
  let now = start
  const sleepers = new Set<{ at: number; wake: () => void }>()
  return {
    now: () => now,
    advance: async (ms) => {
      now += ms
      for (const sleeper of sleepers) {
        if (sleeper.at > now) continue
        sleepers.delete(sleeper)
        sleeper.wake()
      }
      await settle()
    },
    clockOf: ({ until }) => ({
      now: () => now,
      sleep: async (ms, signal) => {
        signal?.throwIfAborted()
        await new Promise<void>((resolve, reject) => {
          const sleeper = { at: now + ms, wake: resolve }
          signal?.addEventListener('abort', () => {
            sleepers.delete(sleeper)
            reject(signal.reason)
          })
          if (ms <= longestPacingMs) setImmediate(resolve)
          else sleepers.add(sleeper)
        })
        // A timer of a stopped process fires when it goes on, and after what it was about to do.
        if (until()) await Promise.resolve(until()).then(settle)
      },
    }),
  }
}
