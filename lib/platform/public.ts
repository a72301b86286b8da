import { systemClock } from '../core/clock.ts'
import { type Log, silentLog } from '../core/log.ts'
import { createPlatformClient as createClient, type PlatformClient } from './client.ts'
import { createRateBudget } from './rate-budget.ts'
import { createOwnRates } from './rates.ts'
import { type Credentials, fixedCredentials } from './transport.ts'

export { FatalError, RejectedError, RetryableError, SyncError } from '../core/errors.ts'
export type { PlatformClient } from './client.ts'
export type { NewMessage, NewSession, SessionChange } from './requests.ts'
export type { Message, MessageReceipt } from './schemas/message.ts'
export type { Session } from './schemas/session.ts'
export type { CallOptions, Credentials } from './transport.ts'

/** How the platform is reached. */
export type ClientOptions = {
  /** Base address of the readiness reports. */
  appUrl: string
  /** Base address of all other endpoints. */
  baseUrl: string
  /** The API key, or what reads it, and reads it anew when it is refused. */
  credentials: string | Credentials
  /** What this client may send at most, on average; no bound without it. */
  requestsPerSecond?: number
  /** For one request, its body included; 30 s unless said otherwise. */
  timeoutMs?: number
  /** Hears of each repetition. */
  log?: Log
  fetch?: typeof fetch
}

/**
 * The package's public face (docs/client.md): a client for all endpoints of the platform, with the waits, repetitions and checks that the
 * project itself relies on.
 * @throws FatalError `configuration` when an address is none.
 */
export function createPlatformClient({
  credentials,
  requestsPerSecond,
  log = silentLog,
  ...deps
}: ClientOptions): PlatformClient {
  const clock = systemClock
  return createClient({
    ...deps,
    ...{ log, clock },
    credentials: typeof credentials === 'string' ? fixedCredentials(credentials) : credentials,
    random: Math.random,
    budget: createRateBudget({ shared: createOwnRates(), clock, log, requestsPerSecond }),
  })
}
