import type { Clock } from '../../core/clock.ts'

/** Takes one request in: 0 when it may go on, else the milliseconds until one may. */
export type RateLimit = () => number

/** As many requests a second on average, and as many at once. */
export type Rate = { perSecond: number; burst: number }

/** What one process answers. API Gateway limits all of them together. */
export const defaultRate: Rate = { perSecond: 50, burst: 100 }

/** A bucket that a request takes one token from, and that fills with time. */
export function createRateLimit({ perSecond, burst }: Rate, clock: Clock): RateLimit {
  let tokens = burst
  let at = clock.now()
  return () => {
    const now = clock.now()
    tokens = Math.min(burst, tokens + (Math.max(0, now - at) * perSecond) / 1000)
    at = now
    if (tokens < 1) return Math.ceil(((1 - tokens) * 1000) / perSecond)
    tokens -= 1
    return 0
  }
}
