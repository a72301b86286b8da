import { randomBytes } from 'node:crypto'
import type * as z from 'zod'
import type { PlatformVariables } from '../core/env.ts'
import { createPlatformClient, type PlatformClient } from '../platform/client.ts'
import { createRateBudget } from '../platform/rate-budget.ts'
import { createOwnRates } from '../platform/rates.ts'
import { fixedCredentials } from '../platform/transport.ts'
import { createRedactor } from '../redaction/redact.ts'
import { createSharedRates } from '../stores/rates.ts'
import { type ReadSecret, secretCredentials } from '../stores/secrets.ts'
import type { StorageClients } from '../stores/storage.ts'
import { clockOf, type Runtime } from './runtime.ts'

/** A runtime that may say how the platform is reached; the process's own fetch by default. */
export type PlatformRuntime = Runtime & { fetch?: typeof fetch }

type Surroundings = {
  readSecret: ReadSecret
  /** Where all workers of the key share their rate; null when only this process is known here. */
  state: { dynamodb: StorageClients['dynamodb']; table: string } | null
}

/**
 * The client of the platform that the environment names, with its key or with the secret that holds it. All that it is
 * asked for shares one budget of requests with the other workers.
 */
export function platformOf(
  env: z.infer<typeof PlatformVariables>,
  runtime: PlatformRuntime,
  { readSecret, state }: Surroundings,
): PlatformClient {
  const { log, fetch } = runtime
  const clock = clockOf(runtime)
  const shared = state ? createSharedRates(state) : createOwnRates()
  return createPlatformClient({
    appUrl: env.PLATFORM_APP_URL,
    baseUrl: env.PLATFORM_BASE_URL,
    credentials: env.PLATFORM_API_KEY
      ? fixedCredentials(env.PLATFORM_API_KEY)
      : secretCredentials(readSecret, env.PLATFORM_SECRET_ID as string),
    clock,
    log,
    random: Math.random,
    budget: createRateBudget({ shared, clock, log, requestsPerSecond: env.PLATFORM_REQUESTS_PER_SECOND }),
    // What an answer says of an error is told once and compared with nothing: any key does.
    redactText: createRedactor(randomBytes(32)).redactText,
    ...(fetch ? { fetch } : {}),
  })
}
