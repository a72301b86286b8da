import type { Clock } from './clock.ts'

/** How long the current attempt may still work. On Lambda the invocation's remaining time, on a laptop endless. */
export type Deadline = { remainingMs(): number }

/** An attempt that nobody cuts short. */
export const noDeadline: Deadline = { remainingMs: () => Number.POSITIVE_INFINITY }

/** A deadline `ms` milliseconds from now on the given clock. */
export function deadlineAfter(clock: Clock, ms: number): Deadline {
  const end = clock.now() + ms
  return { remainingMs: () => end - clock.now() }
}

/** A deadline that comes `ms` before another: what must still be done after it keeps its time. */
export function earlier(deadline: Deadline, ms: number): Deadline {
  return {
    remainingMs: () => deadline.remainingMs() - ms,
  }
}
