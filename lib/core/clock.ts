import { setTimeout as wait } from 'node:timers/promises'

/** Time comes in as a parameter, so that tests can hold it still and no module reads the wall clock by itself. */
export type Clock = {
  /** Unix milliseconds. */
  now(): number
  /** Resolves after `ms` milliseconds; rejects with an AbortError as soon as `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    await wait(ms, undefined, signal ? { signal } : {})
  },
}

/** `YYYY-MM-DD` in UTC, whatever the time zone of the machine. */
export function utcDate(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 10)
}
