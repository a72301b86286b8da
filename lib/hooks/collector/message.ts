import * as z from 'zod'
import { messageOf, RejectedError } from '../../core/errors.ts'
import { laterForm } from '../../core/form.ts'
import { parseJson } from '../../core/json.ts'
import { firstIssue } from '../../core/schema.ts'
import { HookEvent } from '../hook-event.ts'

/** What travels on the queue: events of one delivery, with a name that all copies of the message share. */
export const HookMessage = z.object({
  delivery: z.string().min(1),
  receivedAt: z.iso.datetime(),
  events: z.array(HookEvent).min(1),
})
export type HookMessage = z.infer<typeof HookMessage>

/** What one message may hold, in bytes: SQS takes 256 KB. */
const messageBytes = 200 * 1024

/** The messages that bring events to the queue, as few as fit. */
export function messagesOf(
  events: readonly HookEvent[],
  { receivedAt, newId }: { receivedAt: number; newId: () => string },
): string[] {
  const groups: HookEvent[][] = []
  let room = 0
  for (const event of events) {
    const bytes = Buffer.byteLength(JSON.stringify(event)) + 1
    if (bytes > room || groups.length === 0) {
      groups.push([])
      room = messageBytes
    }
    groups.at(-1)!.push(event)
    room -= bytes
  }
  const received = new Date(receivedAt).toISOString()
  return groups.map((group) =>
    JSON.stringify({ delivery: newId(), receivedAt: received, events: group } satisfies HookMessage),
  )
}

/**
 * Reads a message of the queue.
 * @throws RejectedError `bad_request` when it is none of ours, `configuration` when a later version sent it.
 */
export function readMessage(body: unknown): HookMessage {
  const value = jsonOf(body)
  const later = laterForm(value, { what: 'message with hook events' })
  if (later !== null) throw new RejectedError(later, { code: 'configuration' })
  const { data, error } = HookMessage.safeParse(value)
  if (data) return data
  throw refused(`it breaks the schema at ${firstIssue(error, 'the top')}`)
}

function jsonOf(body: unknown): unknown {
  try {
    return parseJson(String(body))
  } catch (error) {
    throw refused(`it is no JSON (${messageOf(error)})`)
  }
}

function refused(why: string) {
  const message = `A message with hook events can't be read: ${why}. Only the collector may send to this queue.`
  return new RejectedError(message, { code: 'bad_request' })
}
