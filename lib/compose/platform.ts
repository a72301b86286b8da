import { randomBytes } from 'node:crypto'
import type * as z from 'zod'
import type { PlatformVariables } from '../core/env.ts'
import { createPlatformClient, type PlatformClient } from '../platform/client.ts'
import { fixedCredentials } from '../platform/transport.ts'
import { createRedactor } from '../redaction/redact.ts'
import { type ReadSecret, secretCredentials } from '../stores/secrets.ts'
import { clockOf, type Runtime } from './runtime.ts'

/** A runtime that may say how the platform is reached; the process's own fetch by default. */
export type PlatformRuntime = Runtime & { fetch?: typeof fetch }

/** The client of the platform that the environment names, with its key or with the secret that holds it. */
export function platformOf(
  env: z.infer<typeof PlatformVariables>,
  readSecret: ReadSecret,
  runtime: PlatformRuntime,
): PlatformClient {
  const { log, fetch } = runtime
  return createPlatformClient({
    appUrl: env.PLATFORM_APP_URL,
    baseUrl: env.PLATFORM_BASE_URL,
    credentials: env.PLATFORM_API_KEY
      ? fixedCredentials(env.PLATFORM_API_KEY)
      : secretCredentials(readSecret, env.PLATFORM_SECRET_ID as string),
    clock: clockOf(runtime),
    log,
    random: Math.random,
    // What an answer says of an error is told once and compared with nothing: any key does.
    redactText: createRedactor(randomBytes(32)).redactText,
    ...(fetch ? { fetch } : {}),
  })
}
