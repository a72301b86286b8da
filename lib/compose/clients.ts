import { SQSClient } from '@aws-sdk/client-sqs'
import type * as z from 'zod'
import type { Clock } from '../core/clock.ts'
import type { StoreVariables } from '../core/env.ts'
import type { Log } from '../core/log.ts'
import { createPlatformClient, type PlatformClient } from '../platform/client.ts'
import { fixedCredentials } from '../platform/transport.ts'
import type { AwsTarget } from '../stores/clients.ts'
import { type ReadSecret, secretCredentials } from '../stores/secrets.ts'

/** On AWS the SDK finds its credentials by itself; emulators are given the ones that stand beside their address. */
export function targetOf(
  env: Pick<
    z.infer<typeof StoreVariables>,
    'AWS_REGION' | 'AWS_ENDPOINT_URL' | 'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY'
  >,
): AwsTarget {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env
  const target = { region: env.AWS_REGION, endpointUrl: env.AWS_ENDPOINT_URL }
  return env.AWS_ENDPOINT_URL && accessKeyId && secretAccessKey
    ? { ...target, credentials: { accessKeyId, secretAccessKey } }
    : target
}

/** A client for SQS, or for the emulator at an endpoint: its queues' addresses name hosts that do not exist. */
export function createSqsClient(env: Parameters<typeof targetOf>[0]): SQSClient {
  const { region, endpointUrl, ...credentials } = targetOf(env)
  return new SQSClient({
    region,
    ...credentials,
    ...(endpointUrl ? { endpoint: endpointUrl, useQueueUrlAsEndpoint: false } : {}),
  })
}

type PlatformEnvironment = {
  PLATFORM_APP_URL: string
  PLATFORM_BASE_URL: string
  PLATFORM_API_KEY?: string | undefined
  PLATFORM_SECRET_ID?: string | undefined
}

/** The client of the platform that the environment names, with its key or with the secret that holds it. */
export function platformOf(
  env: PlatformEnvironment,
  readSecret: ReadSecret,
  { clock, log, fetch }: { clock: Clock; log: Log; fetch?: typeof globalThis.fetch },
): PlatformClient {
  return createPlatformClient({
    appUrl: env.PLATFORM_APP_URL,
    baseUrl: env.PLATFORM_BASE_URL,
    credentials: env.PLATFORM_API_KEY
      ? fixedCredentials(env.PLATFORM_API_KEY)
      : secretCredentials(readSecret, env.PLATFORM_SECRET_ID as string),
    clock,
    log,
    random: Math.random,
    ...(fetch ? { fetch } : {}),
  })
}
