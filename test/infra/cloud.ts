import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand } from '@aws-sdk/client-s3'
import { type Emulators, startEmulators } from '../../lib/local/emulators/emulators.ts'
import type { SimulatorOptions } from '../../lib/local/simulator/options.ts'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { createStorageClients, type StorageClients } from '../../lib/stores/storage.ts'
import { createSigningService } from './signing-service.ts'
import { resolved, type Synthesized, variablesOf as unresolved } from './synthesized.ts'

/** A call to a service that has no emulator: Secrets Manager, KMS, Glue, EventBridge. */
export type Call = { action: string; input: Record<string, unknown> }

/** An account for one test: emulators, the platform, and the environment in which the template lets a function run. */
export type Cloud = {
  platform: Simulator
  clients: StorageClients
  emulators: Emulators
  /** What Glue and EventBridge were asked, in order. */
  calls: Call[]
  bucket: string
  environmentOf(functionName: string): Record<string, string>
  close(): Promise<void>
}

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }

export async function startCloud(template: Synthesized, options: SimulatorOptions = {}): Promise<Cloud> {
  const dir = mkdtempSync(join(tmpdir(), 'platform-sync-cloud-'))
  const emulators = await startEmulators({ dir })
  const platform = await startSimulator(options)
  const calls: Call[] = []
  const services = await startServices(calls)
  const clients = createStorageClients({ region: 'us-east-1', endpointUrl: emulators.endpointUrl, credentials })
  const variables = { ...variablesOf(template, 'sync-stream'), ...variablesOf(template, 'import-credit-limits') }
  const buckets = ['LAKE_BUCKET', 'AUDIT_BUCKET', 'INBOX_BUCKET'].map((name) => variables[name] ?? '')
  for (const Bucket of buckets) await clients.s3.send(new CreateBucketCommand({ Bucket }))
  const address = `http://127.0.0.1:${(services.address() as AddressInfo).port}`
  return {
    platform,
    clients,
    emulators,
    calls,
    bucket: buckets[0] ?? '',
    environmentOf: (functionName) => ({
      ...variablesOf(template, functionName),
      ...outside(emulators, address),
      AWS_LAMBDA_FUNCTION_NAME: functionName,
      PLATFORM_APP_URL: platform.appUrl,
      PLATFORM_BASE_URL: platform.baseUrl,
    }),
    close: async () => {
      clients.destroy()
      await platform.close()
      await emulators.close()
      services.closeAllConnections()
      services.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** What the template gives a function. */
function variablesOf(template: Synthesized, functionName: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(unresolved(template, functionName)).map(([name, value]) => [name, resolved(value)]),
  )
}

/** Where AWS is, which the runtime of a function knows by itself. */
function outside({ endpointUrl, environment }: Emulators, services: string): Record<string, string> {
  return {
    AWS_REGION: environment.AWS_REGION ?? '',
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_ENDPOINT_URL: endpointUrl,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: services,
    AWS_ENDPOINT_URL_GLUE: services,
    AWS_ENDPOINT_URL_EVENTBRIDGE: services,
    AWS_ENDPOINT_URL_KMS: services,
  }
}

/** The text of the redaction secret. */
export const redactionKey = 'a key of the tests that is long enough to be one'

const secrets: Record<string, string> = {
  'platform-sync/api-key': '{"apiKey":"sim-key"}',
  'platform-sync/redaction-key': redactionKey,
}

function readSecret({ SecretId }: Record<string, unknown>) {
  const SecretString = secrets[SecretId as string]
  return SecretString === undefined ? { __type: 'ResourceNotFoundException' } : { SecretString }
}

async function startServices(calls: Call[]): Promise<Server> {
  const answers: Record<string, (input: Record<string, unknown>) => object> = {
    GetSecretValue: readSecret,
    ...createSigningService(),
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const input = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>
    const action = String(request.headers['x-amz-target']).split('.').at(-1) ?? ''
    const answer = answers[action]?.(input) ?? {}
    if (!(action in answers)) calls.push({ action, input })
    response.writeHead('__type' in answer ? 400 : 200, { 'content-type': 'application/x-amz-json-1.1' })
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return server
}
