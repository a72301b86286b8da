import { setTimeout as wait } from 'node:timers/promises'

/** Time comes in as a parameter, so that tests can hold it still and no module reads the wall clock by itself. */
export type Clock = {
  /** Unix milliseconds. */
  now(): number
  /** Resolves after `ms` milliseconds, however many; rejects with an AbortError as soon as `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The longest timer of Node, about 24.8 days: a longer one fires at once. */
const longestTimerMs = 2 ** 31 - 1

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    let leftMs = ms
    do {
      const sliceMs = Math.min(leftMs, longestTimerMs)
      await wait(sliceMs, undefined, signal ? { signal } : {})
      leftMs -= sliceMs
    } while (leftMs > 0)
  },
}

/** `YYYY-MM-DD` in UTC, whatever the time zone of the machine. */
export function utcDate(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 10)
}

/** Whether the runtime knows a time zone of that name. */
export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}
