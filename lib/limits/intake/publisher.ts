import { FatalError, RetryableError } from '../../core/errors.ts'
import { sha256 } from '../../core/hash.ts'
import { fullJitter, type Jitter, retry } from '../../core/retry.ts'
import type { LimitRequest } from '../entries.ts'
import { type IntentEntry, maxEntries } from '../intent.ts'
import type { IntentQueue, OutgoingMessage } from '../ports.ts'

/** The message group of all intents: there is one, so that the queue hands them to one worker at a time, in order. */
export const messageGroup = 'credit-limits'

/** Bounds of SQS: the bytes of a message or a batch, the messages of a batch. */
const maxBytes = 256 * 1024
const maxMessages = 10
const attempts = 5
const growth = { baseMs: 400, capMs: 5_000 }

/** An intent of one request, as it goes to the queue. */
export type IntentMessage = LimitRequest & { version: 1; limits: IntentEntry[] }

/**
 * Cuts a request of any size into intents of at most 100 entries that fit a message. The same request is always cut the
 * same way and its intents have the same ids, so that publishing it again changes nothing.
 */
export function intentsOf(request: LimitRequest, limits: readonly IntentEntry[]): IntentMessage[] {
  const parts: IntentEntry[][] = []
  const cut = (some: readonly IntentEntry[]): void => {
    if (some.length === 0) return
    if (some.length <= maxEntries && bytesOf(JSON.stringify(some)) <= maxBytes / 2) parts.push([...some])
    else {
      const half = some.length <= maxEntries ? Math.ceil(some.length / 2) : maxEntries
      cut(some.slice(0, half))
      cut(some.slice(half))
    }
  }
  cut(limits)
  return parts.map((part, i) => ({
    version: 1,
    ...request,
    requestId: `${request.requestId}.${String(i + 1).padStart(4, '0')}`,
    limits: part,
  }))
}

/** Dependencies of `publishIntents`. */
export type PublishIntentsDeps = Jitter & { queue: IntentQueue; onSent?: (messages: number) => void }

/**
 * Puts intents on the queue, in batches; what a batch left behind is sent again, and only that.
 * @throws RetryableError `storage_unavailable` when the queue does not take them, FatalError `bad_request` when it never
 * will. Publishing the same intents again is harmless.
 */
export async function publishIntents(intents: readonly IntentMessage[], deps: PublishIntentsDeps): Promise<void> {
  for (const batch of batchesOf(intents.map(outgoing))) {
    await sendAll(batch, deps)
    deps.onSent?.(batch.length)
  }
}

function outgoing(intent: IntentMessage): OutgoingMessage {
  const body = JSON.stringify(intent)
  return { id: sha256(intent.requestId).slice(0, 32), body, groupId: messageGroup, deduplicationId: sha256(body) }
}

/** Cuts messages into batches by SQS's limits on count and on bytes in all. */
export function batchesOf(messages: readonly OutgoingMessage[]): OutgoingMessage[][] {
  const batches: OutgoingMessage[][] = []
  let bytes = 0
  for (const message of messages) {
    const size = bytesOf(message.body)
    const batch = batches.at(-1)
    if (batch && batch.length < maxMessages && bytes + size <= maxBytes) {
      batch.push(message)
      bytes += size
    } else {
      batches.push([message])
      bytes = size
    }
  }
  return batches
}

function sendAll(batch: OutgoingMessage[], { queue, ...jitter }: PublishIntentsDeps): Promise<void> {
  let rest = batch
  const send = async () => {
    const failed = new Map((await queue.sendBatch(rest)).map((failure) => [failure.id, failure]))
    rest = rest.filter(({ id }) => failed.has(id))
    if (rest.length === 0) return
    const failures = rest.map(({ id }) => failed.get(id)!)
    const { code, senderFault } = failures.find((failure) => failure.senderFault) ?? failures[0]!
    const what = `the queue did not take ${rest.length} of ${batch.length} messages with credit limits (${code})`
    if (senderFault) throw new FatalError(`${what}, and never will: please report it`, { code: 'bad_request' })
    const advice = 'Do it again: what it took already is not applied twice'
    return new RetryableError(`${what}. ${advice}`, { code: 'storage_unavailable' })
  }
  return retry(send, { attempts, waits: fullJitter(jitter, growth) })
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text)
}
