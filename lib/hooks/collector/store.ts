import * as z from 'zod'
import type { Clock } from '../../core/clock.ts'
import { eachConcurrently } from '../../core/concurrency.ts'
import { FatalError, messageOf, RejectedError, RetryableError } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { hookEvents } from '../../streams/hook-events.ts'
import type { Stream } from '../../streams/stream.ts'
import { eventRecord, type Privacy } from './event-record.ts'
import { packLines, unpackLines } from './lines.ts'
import { type HookMessage, readMessage } from './message.ts'
import { placeOf } from './places.ts'
import type { Claim, HookClaims, HookObjects } from './ports.ts'

/** What storing needs. */
export type StoreDeps = {
  claims: HookClaims
  objects: Pick<HookObjects, 'write' | 'read'>
  /** Replaces secrets; called before anything is written. */
  redact: (record: Json, stream: Stream) => Json
  privacy: Privacy
  clock: Clock
  newId: () => string
  log: Log
  metrics: Metrics
}

/** The partial batch response: exactly the messages that must come again. */
export type StoreResponse = { batchItemFailures: { itemIdentifier: string }[] }

/** A record of the queue; its body may be anything. */
const QueueRecord = z.object({ messageId: z.string().min(1), body: z.unknown() })

/** Longer than a message can be on its way: 14 days on the queue, as many among the dead letters, and some to put it back. */
const claimMs = 90 * 24 * 3_600_000
const claimsAtOnce = 16

/**
 * Writes the events of a batch of messages as one object of lines, each event once. A message that fails, or can't be
 * read, goes back alone.
 *
 * The order is the promise: an event is claimed for a place, then it is written there, then its message is done with. A
 * death between the steps leaves a claim without its event, which the same message finds when it comes again.
 */
export async function storeBatch(batch: readonly unknown[], deps: StoreDeps): Promise<StoreResponse> {
  const { objects, clock, newId, log, metrics } = deps
  const { messages, failed } = readBatch(batch, log)
  const at = clock.now()
  const storing: Storing = { place: placeOf(at, newId()), at, objectsRead: new Map(), deps }
  const records: Json[] = []
  const waiting: string[] = []
  for (const { message, ids } of messages.values()) {
    try {
      const mine = await recordsOf(message, storing)
      if (mine.length > 0) waiting.push(...ids)
      records.push(...mine)
    } catch (error) {
      log.warn('A message with hook events could not be stored; it comes again.', { reason: messageOf(error) })
      failed.push(...ids)
    }
  }
  if (records.length > 0) {
    try {
      await objects.write(storing.place, await packLines(records))
      metrics.count('HookEventsStored', records.length)
    } catch (error) {
      log.warn('Hook events could not be written; their messages come again.', { reason: messageOf(error) })
      failed.push(...waiting)
    }
  }
  if (failed.length > 0) metrics.count('HookMessagesFailed', failed.length)
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) }
}

type Delivered = { message: HookMessage; ids: string[] }

/** The messages of a batch. The copies of one are one, which ends for all of them alike. One that can't be read fails alone. */
function readBatch(batch: readonly unknown[], log: Log) {
  const messages = new Map<string, Delivered>()
  const failed: string[] = []
  for (const one of batch) {
    const { data, error } = QueueRecord.safeParse(one)
    // It could not be named in the answer, and would be forgotten.
    if (error)
      throw new FatalError('A record has no message id: let a queue invoke the function.', { code: 'bad_request' })
    const { messageId, body } = data
    try {
      const message = readMessage(body)
      const copies = messages.get(message.delivery)
      if (copies) copies.ids.push(messageId)
      else messages.set(message.delivery, { message, ids: [messageId] })
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error
      log.error('A message with hook events goes back to the queue.', { messageId, reason: error.message })
      failed.push(messageId)
    }
  }
  return { messages, failed }
}

type Storing = {
  place: string
  at: number
  /** Ids of the events in objects that were looked at. */
  objectsRead: Map<string, Promise<ReadonlySet<unknown>>>
  deps: StoreDeps
}

/** The records of a message that are to be written: those that it claims, and that are nowhere yet. */
async function recordsOf({ delivery, receivedAt, events }: HookMessage, storing: Storing): Promise<Json[]> {
  const { redact, privacy, metrics } = storing.deps
  const claimed = new Set<string>()
  await eachConcurrently(events, claimsAtOnce, async ({ id }) => {
    if (await isToWrite(id, delivery, storing)) claimed.add(id)
  })
  if (claimed.size < events.length) metrics.count('HookEventsRepeated', events.length - claimed.size)
  const times = { receivedAt, storedAt: new Date(storing.at).toISOString() }
  return events
    .filter(({ id }) => claimed.has(id))
    .map((event) => redact(eventRecord(event, times, privacy), hookEvents))
}

async function isToWrite(id: string, delivery: string, storing: Storing): Promise<boolean> {
  const { claims } = storing.deps
  const claim: Claim = { delivery, place: storing.place }
  const until = storing.at + claimMs
  const standing = await claims.claim(id, claim, { until })
  if (standing === null) return true
  if (standing.delivery !== delivery) return false
  if ((await idsAt(standing.place, storing)).has(id)) return false
  // This message claimed it before, and died, or failed, before the event was there.
  if ((await claims.claim(id, claim, { until, instead: standing })) === null) return true
  throw new RetryableError('another function stores this message at the moment', { code: 'storage_unavailable' })
}

function idsAt(place: string, { objectsRead, deps }: Storing): Promise<ReadonlySet<unknown>> {
  const reading = objectsRead.get(place) ?? readIds(place, deps)
  objectsRead.set(place, reading)
  return reading
}

async function readIds(place: string, { objects }: StoreDeps): Promise<ReadonlySet<unknown>> {
  const bytes = await objects.read(place)
  const records = bytes ? await unpackLines(place, bytes) : []
  return new Set(records.map((record) => (record as { eventId?: unknown } | null)?.eventId))
}
