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
    if (some.length <= maxEntries && bytesOf(queueText(some)) <= maxBytes / 2) parts.push([...some])
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
export type PublishIntentsDeps = Jitter & { queue: IntentQueue }

/** The message of an intent on the queue, under the name that the queue gave it. It keeps that name as a dead letter. */
export type PublishedIntent = { requestId: string; messageId: string }

/**
 * Puts intents on the queue, in batches; what a batch left behind is sent again, and only that.
 * @throws RetryableError `storage_unavailable` when the queue does not take them, FatalError `bad_request` when it never
 * will. Publishing the same intents again is harmless.
 */
export async function publishIntents(
  intents: readonly IntentMessage[],
  deps: PublishIntentsDeps,
): Promise<PublishedIntent[]> {
  const names = new Map<string, string>()
  for (const batch of batchesOf(intents.map(outgoing))) await sendAll(batch, { ...deps, names })
  return intents.flatMap(({ requestId }) => {
    const messageId = names.get(idOf(requestId))
    return messageId === undefined ? [] : [{ requestId, messageId }]
  })
}

function outgoing(intent: IntentMessage): OutgoingMessage {
  const body = queueText(intent)
  return { id: idOf(intent.requestId), body, groupId: messageGroup, deduplicationId: sha256(body) }
}

function idOf(requestId: string): string {
  return sha256(requestId).slice(0, 32)
}

/**
 * JSON in the characters that every queue takes. SQS refuses U+FFFE and U+FFFF, emulators all that is beyond U+FFFF; they
 * are escaped, which whoever parses the text does not notice.
 */
function queueText(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
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

/** Sends a batch until the queue has all of it, and notes the names that it gives. */
function sendAll(
  batch: OutgoingMessage[],
  { queue, names, ...jitter }: PublishIntentsDeps & { names: Map<string, string> },
): Promise<void> {
  let rest = batch
  const send = async () => {
    const { taken, refused } = await queue.sendBatch(rest)
    for (const { id, messageId } of taken) names.set(id, messageId)
    const failed = new Map(refused.map((failure) => [failure.id, failure]))
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
