import { randomUUID } from 'node:crypto'
import { silentLog } from '../../../lib/core/log.ts'
import { unpackLines } from '../../../lib/hooks/collector/lines.ts'
import type { HookObjects, HookQueue } from '../../../lib/hooks/collector/ports.ts'
import { createRateLimit } from '../../../lib/hooks/collector/rate-limit.ts'
import { type HookAnswer, type ReceiveDeps, receive } from '../../../lib/hooks/collector/receive.ts'
import { type StoreDeps, storeBatch } from '../../../lib/hooks/collector/store.ts'
import { createTokenCheck } from '../../../lib/hooks/collector/tokens.ts'
import type { HookEvent } from '../../../lib/hooks/hook-event.ts'
import { createRedactor } from '../../../lib/redaction/redact.ts'
import { manualClock } from '../../sync/support/clock.ts'
import { memoryClaims, memoryObjects } from './memory.ts'

export const token = 'a-token-of-this-installation-of-ours'
export const key = 'r'.repeat(32)

/** An event as a machine sends it. */
export function event(input: object = {}, more: object = {}): HookEvent {
  return {
    id: randomUUID(),
    occurredAt: '2026-05-06T11:59:58.000Z',
    host: 'laptop-of-ana',
    agentVersion: '1.4.2',
    input: { hook_event_name: 'Stop', session_id: 'session-1', cwd: '/home/ana/acme-web', ...input },
    ...more,
  }
}

/** A collector over memory, with its queue open for inspection. */
export function createCollector({ rate = { perSecond: 50, burst: 100 } } = {}) {
  const clock = manualClock()
  const queue: { messageId: string; body: string }[] = []
  const sends: HookQueue = {
    send: async (body) => void queue.push({ messageId: randomUUID(), body }),
  }
  const [claims, objects] = [memoryClaims(), memoryObjects()]
  const counts = new Map<string, number>()
  const metrics = {
    count: (name: string, value: number) => void counts.set(name, (counts.get(name) ?? 0) + value),
  }
  const secret = { text: token, reads: 0 }
  const read = async () => {
    secret.reads += 1
    return secret.text
  }
  const common = { clock, newId: randomUUID, log: silentLog, metrics }
  const checkToken = createTokenCheck({ read, clock })
  const receiveDeps: ReceiveDeps = { ...common, checkToken, rateLimit: createRateLimit(rate, clock), queue: sends }
  const { redact } = createRedactor(key)
  const storeDeps: StoreDeps = { ...common, claims, objects, redact, privacy: { cwd: 'kept', host: 'hashed', key } }
  const sendRaw = (body: string | Uint8Array, authorization: string | undefined = `Bearer ${token}`) =>
    receive({ authorization, body: Buffer.from(body) }, receiveDeps)
  return {
    ...{ clock, queue, claims, objects, counts, secret, receiveDeps, storeDeps, sendRaw },
    send: (...events: unknown[]): Promise<HookAnswer> => sendRaw(JSON.stringify({ events })),
    /** Stores what is on the queue, as its event source mapping would: what failed stays there. */
    store: async (deps: Partial<StoreDeps> = {}) => {
      const { batchItemFailures } = await storeBatch(queue, { ...storeDeps, ...deps })
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
      queue.splice(0, queue.length, ...queue.filter(({ messageId }) => failed.has(messageId)))
      return failed.size
    },
  }
}

type Row = { [name: string]: unknown }

/** All records in the collected objects. */
export async function recordsIn({ stored }: HookObjects & { stored: Map<string, Uint8Array> }): Promise<Row[]> {
  const lists = await Promise.all([...stored].map(([key, bytes]) => unpackLines(key, bytes)))
  return lists.flat() as Row[]
}
