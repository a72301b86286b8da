import type { Life } from '../population.ts'
import { hash32, pick, unit } from '../random.ts'

const steps = ['install', 'connect', 'clone', 'verify'] as const

/** A computer as the API sends it (§2.6). */
export function computerOf(life: Life, id: string): Record<string, unknown> {
  const { key, position, version, createdAt } = life
  const has = (salt: number, share: number) => unit(key, salt) < share
  const host = `build-${position}.internal.example.com`
  return {
    id,
    name: has(10, 0.95) ? `${pick(['build', 'gpu', 'desk', 'ci'], hash32(key, 1))}-${position}` : undefined,
    providerType: has(11, 0.95) ? pick(['byom', 'byom', 'managed'], hash32(key, 2)) : undefined,
    createdAt: has(12, 0.95) ? createdAt : undefined,
    hostname: has(3, 0.85) ? host : undefined,
    status: has(13, 0.95) ? pick(['provisioning', 'ready', 'ready', 'offline'], hash32(key, 4, version)) : undefined,
    provisioningSteps: has(5, 0.8)
      ? steps.slice(0, 1 + (hash32(key, 6) % 4)).map((name, n) => stepOf(life, { name, n }))
      : undefined,
    relayClientUrl: has(7, 0.75) ? `wss://relay.example.com/client/${id}` : undefined,
    relayAgentUrl: has(7, 0.75) ? `wss://relay.example.com/agent/${id}` : undefined,
    remoteUser: has(8, 0.7) ? 'agent' : has(9, 0.4) ? null : undefined,
  }
}

function stepOf({ key, createdAt, version }: Life, { name, n }: { name: string; n: number }): Record<string, unknown> {
  const status = pick(['done', 'done', 'running', 'failed'], hash32(key, 20 + n, version))
  return {
    id: `step-${n + 1}`,
    name,
    status,
    error: status === 'failed' ? 'exit code 1' : undefined,
    installSessionId: unit(key, 30 + n) < 0.3 ? `install-${hash32(key, 31 + n)}` : undefined,
    startedAt: unit(key, 40 + n) < 0.95 ? createdAt + n * 30_000 : undefined,
    completedAt: status === 'done' ? createdAt + n * 30_000 + 20_000 : undefined,
  }
}
