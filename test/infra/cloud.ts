import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand } from '@aws-sdk/client-s3'
import { type Emulators, startEmulators } from '../../lib/local/emulators/emulators.ts'
import type { SimulatorOptions } from '../../lib/local/simulator/options.ts'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { createStorageClients, type StorageClients } from '../../lib/stores/storage.ts'
import { openGate } from './gate.ts'
import { createGuard, type Guard } from './guard.ts'
import { type Call, createStandIns, secretsOfAccount } from './stand-ins.ts'
import { resolved, type Synthesized, variablesOf as unresolved } from './synthesized.ts'

/**
 * An account for one test: emulators, the platform, and the environment in which the template lets a function run. A
 * function is refused what its role does not allow.
 */
export type Cloud = {
  platform: Simulator
  clients: StorageClients
  emulators: Emulators
  /** What Glue was told of partitions, and EventBridge of events, in order. */
  calls: Call[]
  /** What Secrets Manager has, by name. */
  secrets: Map<string, string>
  bucket: string
  environmentOf(functionName: string): Record<string, string>
  /** What functions were refused, in words. */
  refusals: readonly string[]
  guard: Guard
  /** @throws Error that names what functions were refused. */
  close(): Promise<void>
}

const region = 'us-east-1'
const owner = { accessKeyId: 'local', secretAccessKey: 'local' }
/** For a process that may do all: the account's owner has no role. */
export const ofOwner = { AWS_ACCESS_KEY_ID: owner.accessKeyId }

export async function startCloud(template: Synthesized, options: SimulatorOptions = {}): Promise<Cloud> {
  const dir = mkdtempSync(join(tmpdir(), 'platform-sync-cloud-'))
  const emulators = await startEmulators({ dir })
  const platform = await startSimulator(options)
  const calls: Call[] = []
  const secrets = secretsOfAccount()
  const guard = createGuard(template, owner.accessKeyId)
  const standIns = createStandIns({ secrets, told: calls })
  const gate = await openGate({ guard, emulators: emulators.endpointUrl, standIns })
  const clients = createStorageClients({ region, endpointUrl: emulators.endpointUrl, credentials: owner })
  const variables = { ...variablesOf(template, 'sync-stream'), ...variablesOf(template, 'import-credit-limits') }
  const buckets = ['LAKE_BUCKET', 'AUDIT_BUCKET', 'INBOX_BUCKET'].map((name) => variables[name] ?? '')
  for (const Bucket of buckets) await clients.s3.send(new CreateBucketCommand({ Bucket }))
  return {
    platform,
    clients,
    emulators,
    calls,
    secrets,
    bucket: buckets[0] ?? '',
    refusals: gate.refusals,
    guard,
    environmentOf: (functionName) => ({
      ...variablesOf(template, functionName),
      ...outside(gate.url, functionName),
      AWS_LAMBDA_FUNCTION_NAME: functionName,
      PLATFORM_APP_URL: platform.appUrl,
      PLATFORM_BASE_URL: platform.baseUrl,
    }),
    close: async () => {
      clients.destroy()
      await platform.close()
      await emulators.close()
      gate.close()
      rmSync(dir, { recursive: true, force: true })
      if (gate.refusals.length > 0) throw new Error(`refused by AWS: ${gate.refusals.join('; ')}`)
    },
  }
}

/** What the template gives a function. */
function variablesOf(template: Synthesized, functionName: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(unresolved(template, functionName)).map(([name, value]) => [name, resolved(value)]),
  )
}

/** Where AWS is and who asks it, which the runtime of a function knows by itself. */
function outside(endpointUrl: string, functionName: string): Record<string, string> {
  return {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: functionName,
    AWS_SECRET_ACCESS_KEY: owner.secretAccessKey,
    AWS_ENDPOINT_URL: endpointUrl,
  }
}
