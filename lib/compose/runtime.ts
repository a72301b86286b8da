import { randomUUID } from 'node:crypto'
import type * as z from 'zod'
import { type Clock, systemClock } from '../core/clock.ts'
import type { AwsVariables } from '../core/env.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { AwsCredentials, AwsTarget } from '../stores/clients.ts'
import type { createSqs } from '../stores/sqs.ts'
import type { StorageClients } from '../stores/storage.ts'

/** The differences between Lambda, a laptop and a test; all else comes from the environment. */
export type Runtime = {
  log: Log
  metrics: Metrics
  /** The machine's own by default. */
  clock?: Clock
  /** Those of emulators that were started here; elsewhere the SDK finds credentials by itself. */
  credentials?: AwsCredentials
  /** Clients that are open already. Else each root opens those that it needs. */
  clients?: StorageClients
}

/** A runtime whose client for queues may be open already, too. */
export type QueueRuntime = Runtime & { sqs?: ReturnType<typeof createSqs> }

/** The time that a runtime goes by. */
export function clockOf({ clock }: Runtime): Clock {
  return clock ?? systemClock
}

/** The place of tables, objects and queues: AWS, or the emulators. */
export function targetOf(env: z.infer<typeof AwsVariables>, { credentials }: Runtime): AwsTarget {
  return { region: env.AWS_REGION, endpointUrl: env.AWS_ENDPOINT_URL, credentials }
}

/**
 * The place of the services that no emulator stands in for: secrets, keys, catalog, events. The SDK's own variables may
 * name another address for each.
 */
export function cloudOf(env: z.infer<typeof AwsVariables>): AwsTarget {
  return { region: env.AWS_REGION }
}

/** A name for a worker that no other worker has. */
export function newOwner(): string {
  return `${process.pid}-${randomUUID()}`
}
