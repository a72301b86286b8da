import type { Clock } from '../../../lib/core/clock.ts'

/** A clock that stands still until a test moves it; those who sleep on it wake when their time has come. */
export type ManualClock = Clock & { advance(ms: number): void }

/** A manual clock, at noon of a day in 2026 unless told otherwise. */
export function manualClock(start = Date.UTC(2026, 4, 6, 12)): ManualClock {
  let now = start
  const sleepers = new Set<{ until: number; wake: () => void }>()
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (ms <= 0) return resolve()
        const sleeper = { until: now + ms, wake: resolve }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper)
          reject(signal.reason as Error)
        })
      }),
    advance: (ms) => {
      now += ms
      for (const sleeper of sleepers) {
        if (sleeper.until > now) continue
        sleepers.delete(sleeper)
        sleeper.wake()
      }
    },
  }
}
