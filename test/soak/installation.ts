import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SQSClient } from '@aws-sdk/client-sqs'
import type { Log } from '../../lib/core/log.ts'
import { startEmulators } from '../../lib/local/emulators/emulators.ts'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { createSqs } from '../../lib/stores/sqs.ts'
import type { StorageClients } from '../../lib/stores/storage.ts'
import { localClients } from '../stores/clients.ts'
import { type Connections, createConnections, platformAddress } from '../support/worlds/connections.ts'
import { type Services, startServices } from './services.ts'
import { startTime, type WorldTime } from './time.ts'

/** Everything that outlives a worker: the platform, what is stored, the secrets, and the time. */
export type Installation = {
  time: WorldTime
  simulator: Simulator
  services: Services
  /** The key that the platform takes at this moment. */
  door: { key: string }
  /** What workers are told by their environment; the names of keys change. */
  variables: Record<string, string>
  connections: Connections
  /** Clients for those who look, beside all faults. */
  clients: StorageClients
  sqs: SQSClient
  /** Everything that any worker logged. */
  logged: string[]
  log: Log
  close(): Promise<void>
}

const counts = { sessions: 40, users: 40, reports: 20, revisions: 6, computers: 6, messagesPerSession: 2 }
/** As many go as come, so that what grows is not the organization. */
const rates = {
  sessions: { changed: 0.08, added: 0.05, removed: 0.05 },
  users: { changed: 0.05, added: 0.025, removed: 0.025 },
  reports: { changed: 0.02, added: 0.05, removed: 0.05 },
  computers: { changed: 0.2, added: 0.1, removed: 0.1 },
}

/** The names of secrets and keys. */
export const names = { apiKey: 'platform-key', redaction: 'redaction-key', signing: 'arn:aws:kms:us-east-1:1:key/' }
/** The token of the machines that send hook events. */
export const hookToken = 'QzHookTokenOfAllMachinesOfTheSoakZq'

/** Starts an installation that has seen nothing yet. */
export async function startInstallation({ seed, start }: { seed: number; start: number }): Promise<Installation> {
  const dir = mkdtempSync(join(tmpdir(), 'soak-'))
  const time = startTime(start)
  const emulators = await startEmulators({ dir })
  const simulator = await startSimulator({ seed, counts, rates, pageCap: 25, startedAt: start - 24 * 3_600_000 })
  const door = { key: 'QzPlatformKey0Zq' }
  const services = await startServices(
    new Map([
      [names.apiKey, JSON.stringify({ apiKey: door.key })],
      [names.redaction, 'a key of the soak, of 32 characters, number 0.'],
    ]),
  )
  const { endpointUrl, credentials, environment } = emulators
  const clients = localClients(endpointUrl)
  const connections = createConnections(() => localClients(endpointUrl))
  const sqs = createSqs({ region: 'us-east-1', endpointUrl, credentials })
  const logged: string[] = []
  const write = (message: string, fields?: object) => void logged.push(`${message} ${JSON.stringify(fields ?? {})}`)
  return {
    ...{ time, simulator, services, door, connections, clients, sqs, logged },
    variables: {
      ...environment,
      PLATFORM_APP_URL: platformAddress,
      PLATFORM_BASE_URL: platformAddress,
      PLATFORM_SECRET_ID: names.apiKey,
      REDACTION_SECRET_ID: names.redaction,
      AUDIT_SIGNING_KEY_ARN: `${names.signing}0`,
      MESSAGES_ENABLED: 'true',
      MESSAGES_ATTACHMENTS: 'kept',
      HOOKS_TOKENS: hookToken,
    },
    log: { debug: write, info: write, warn: write, error: write },
    close: async () => {
      connections.close()
      clients.destroy()
      sqs.destroy()
      services.close()
      await simulator.close()
      await emulators.close()
      rmSync(dir, { recursive: true, force: true })
      time.restore()
    },
  }
}
