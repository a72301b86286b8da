import type { Clock } from '../../lib/core/clock.ts'
import { createPlatformClient } from '../../lib/platform/client.ts'
import type { HttpDeps } from '../../lib/platform/http.ts'
import { fixedCredentials } from '../../lib/platform/transport.ts'

/** A clock on which sleeping takes no time but moves it on; it keeps what was slept. */
export function fakeClock(start = '2026-05-06T10:00:00Z'): Clock & { sleeps: number[] } {
  let now = Date.parse(start)
  const sleeps: number[] = []
  return {
    sleeps,
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted()
      sleeps.push(ms)
      now += ms
    },
  }
}

/** A client of a stub server, without jitter. */
export function clientOf(url: string, deps: Partial<HttpDeps> = {}) {
  return createPlatformClient({
    appUrl: url,
    baseUrl: url,
    credentials: fixedCredentials('key_live_ABC123'),
    clock: fakeClock(),
    random: () => 0,
    // Longer than any machine is busy: a test about time gives its own.
    timeoutMs: 60_000,
    ...deps,
  })
}

export const sessionsList = { base: 'v0', path: '/api/v0/sessions' } as const

/** The error that a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  const result = await promise.then(
    () => new Error('it was fulfilled'),
    (error: unknown) => error,
  )
  return result as Error & Record<string, unknown>
}
