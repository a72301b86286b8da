import * as z from 'zod'
import type { Clock } from '../../core/clock.ts'
import { eachConcurrently } from '../../core/concurrency.ts'
import { RetryableError } from '../../core/errors.ts'
import { parseJson } from '../../core/json.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { type HookReceipt, hookLimits } from '../hook-event.ts'
import { messagesOf } from './message.ts'
import type { HookQueue } from './ports.ts'
import type { RateLimit } from './rate-limit.ts'
import { readEvents } from './read-events.ts'
import type { CheckToken } from './tokens.ts'

/** A request as either door hands it over. */
export type HookRequest = { authorization: string | undefined; body: Uint8Array }

/** The answer to it. Only 202 says that something was kept. */
export type HookAnswer =
  | { status: 202; body: HookReceipt }
  | { status: 400 | 401 | 413 | 429 | 503; body: { error: string }; retryAfterSeconds?: number }

/** The headers of an answer. */
export function headersOf(answer: HookAnswer): Record<string, string> {
  const seconds = 'retryAfterSeconds' in answer ? answer.retryAfterSeconds : undefined
  return { 'content-type': 'application/json', ...(seconds === undefined ? {} : { 'retry-after': String(seconds) }) }
}

/** What receiving needs. */
export type ReceiveDeps = {
  checkToken: CheckToken
  rateLimit: RateLimit
  queue: HookQueue
  clock: Clock
  newId: () => string
  log: Log
  metrics: Metrics
}

/** Where machines send events to. */
export const hookPath = '/v1/hook-events'

const Body = z.object({ events: z.array(z.unknown()).min(1) })
const busySeconds = 30

/**
 * Takes in the events of one request: 202 once those that can be kept are on the queue, and the others named with a
 * reason. Any other answer has kept nothing that may be forgotten.
 */
export async function receive({ authorization, body }: HookRequest, deps: ReceiveDeps): Promise<HookAnswer> {
  const { checkToken, rateLimit, metrics } = deps
  if (!(await checkToken(authorization))) return failure(401, 'the bearer token is missing or not valid')
  const waitMs = rateLimit()
  if (waitMs > 0) return failure(429, 'too many requests', Math.ceil(waitMs / 1000))
  if (body.byteLength > hookLimits.bodyBytes)
    return failure(413, `the body has more than ${hookLimits.bodyBytes} bytes`)
  const given = Body.safeParse(parsed(body)).data?.events
  if (!given) return failure(400, 'the body is no JSON of the form {"events": [...]} with one event or more')
  if (given.length > hookLimits.eventsPerBody) {
    return failure(413, `the body has more than ${hookLimits.eventsPerBody} events`)
  }
  const { events, refused } = readEvents(given)
  if (events.length > 0 && !(await send(messagesOf(events, { ...deps, receivedAt: deps.clock.now() }), deps))) {
    return failure(503, 'events can not be kept now', busySeconds)
  }
  metrics.count('HookEventsReceived', events.length)
  if (refused.length > 0) metrics.count('HookEventsRefused', refused.length)
  return { status: 202, body: { accepted: events.map(({ id }) => id), refused } }
}

const messagesAtOnce = 8

/** Whether all messages are durable. What was sent before one failed comes again from its machine, and is stored once. */
async function send(messages: readonly string[], { queue, log }: ReceiveDeps): Promise<boolean> {
  try {
    await eachConcurrently(messages, messagesAtOnce, (message) => queue.send(message))
    return true
  } catch (error) {
    if (!(error instanceof RetryableError)) throw error
    log.warn('The queue takes no events now; machines keep them.', { reason: error.message })
    return false
  }
}

function failure(status: Exclude<HookAnswer['status'], 202>, error: string, retryAfterSeconds?: number): HookAnswer {
  return { status, body: { error }, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) }
}

/** The JSON of a body; undefined when it is none. */
function parsed(body: Uint8Array): unknown {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}
