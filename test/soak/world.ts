import { randomUUID } from 'node:crypto'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { composeCollect } from '../../lib/compose/hooks-collect.ts'
import { noMetrics } from '../../lib/core/metrics.ts'
import { receive } from '../../lib/hooks/collector/receive.ts'
import type { Simulator } from '../../lib/local/simulator/simulator.ts'
import { type Canary, createCanaries, releaseCanaries } from '../support/worlds/canaries.ts'
import { hookToken, type Installation, startInstallation } from './installation.ts'
import type { Job } from './plan.ts'

/** A limit that a file asks for: its number is that of no other, so that one that comes back is seen. */
export type Asked = { email: string; limit: number; at: number }

/** An installation with all that happened to it, as the one who watches knows it. */
export type World = Installation & {
  canaries: readonly Canary[]
  /** A text for a place, that must show nowhere in what is stored or logged. */
  secret(place: string): string
  /** Ids of hook events that were acknowledged. */
  events: Set<string>
  asked: Asked[]
  /** What the platform was told, in order. */
  told: { email: string; limit: number }[]
  /** Calls that each job took the last time. */
  calls: Map<Job, number>
  /** Keys that were used, all of which are secrets. */
  keys: string[]
  sendEvents(count: number): Promise<void>
  dropFile(text: string | Uint8Array): Promise<{ key: string; droppedAt: number; droppedBy: string }>
  close(): Promise<void>
}

/** The policy of the soak, which `limitOf` repeats in its own words. */
const policy = `timeZone: UTC
default: 500
groups:
  - { name: engineering, limit: 2000, members: { metadata: { field: department, equals: Engineering } } }
leavers: { set: 0, afterDays: 2 }
guard: { changesPerNight: 10000 }
`

/** The limit that the policy says for a user of the platform. */
export function limitOf(user: { metadata?: { department?: string } }): number {
  return user.metadata?.department === 'Engineering' ? 2000 : 500
}

/** Starts a world on its first day. */
export async function startWorld(options: { seed: number; start: number }): Promise<World> {
  const installation = await startInstallation(options)
  const { time, simulator, clients, variables, log } = installation
  const { all: canaries, secret: plant } = createCanaries()
  releaseCanaries(withoutRevisions(simulator), plant)
  const planted = new Map<string, string>()
  const secret = (place: string) => {
    const text = planted.get(place) ?? plant(place)
    planted.set(place, text)
    return text
  }
  const put = (Key: string, Body: string | Uint8Array) =>
    clients.s3.send(new PutObjectCommand({ Bucket: variables.INBOX_BUCKET, Key, Body }))
  await put('policy/policy.yaml', policy)
  const clock = time.clockOf({ until: () => null })
  const collector = composeCollect(variables, { log, metrics: noMetrics, clock })
  const told: World['told'] = []
  const set = simulator.limits.set.bind(simulator.limits)
  simulator.limits.set = (email, limit) => {
    told.push({ email, limit })
    return set(email, limit)
  }
  const events = new Set<string>()
  let last: object[] = []
  let files = 0
  return {
    ...installation,
    ...{ canaries, secret, events, told, asked: [], calls: new Map(), keys: [installation.door.key, hookToken] },
    sendEvents: async (count) => {
      if (count > 0 || last.length === 0) last = eventsOf(Math.max(1, count), { at: time.now(), secret })
      const body = Buffer.from(JSON.stringify({ events: last }))
      const answer = await receive({ authorization: `Bearer ${hookToken}`, body }, collector.receiveDeps)
      if (answer.status !== 202) throw new Error(`the collector answered ${answer.status}`)
      for (const id of answer.body.accepted) events.add(id)
    },
    dropFile: async (text) => {
      const key = `limits-${++files}.csv`
      await put(key, text)
      return { key, droppedAt: time.now(), droppedBy: 'AIDA:ana' }
    },
    close: async () => {
      collector.close()
      await installation.close()
    },
  }
}

/** The history of settings has no gaps and nothing in it is broken: the audit trail would say so, and rightly. */
function withoutRevisions(simulator: Simulator): Simulator {
  const put: Simulator['put'] = (resource, id, record) => {
    if (resource !== 'revisions') simulator.put(resource, id, record)
  }
  return { ...simulator, put }
}

function eventsOf(count: number, { at, secret }: { at: number; secret: World['secret'] }): object[] {
  return Array.from({ length: count }, (_, n) => ({
    id: randomUUID(),
    occurredAt: new Date(at - n * 1_000).toISOString(),
    host: `machine-${n % 2}`,
    input: {
      hook_event_name: 'Notification',
      session_id: `session-${n}`,
      cwd: `/home/dev/repository-${n % 3}`,
      message: `waits for https://me:${secret('hook event')}@git.example.com`,
    },
  }))
}
