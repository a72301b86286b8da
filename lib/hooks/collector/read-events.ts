import type { Json } from '../../core/json.ts'
import { isTooDeep } from '../../core/nesting.ts'
import { firstIssue } from '../../core/schema.ts'
import { HookEvent, type HookReceipt, hookLimits } from '../hook-event.ts'

/** The events of a body that can be kept, each once, and those that are refused for good. */
export type ReadEvents = { events: HookEvent[]; refused: HookReceipt['refused'] }

/** What an event may take as JSON: what the agent may hand over, written with other escapes than it came. */
const eventBytes = 2 * hookLimits.inputBytes
/** Values deeper than this are none that an agent sends, and would overflow the stack of whoever walks through them. */
const deepest = 64

/** Checks events one by one: a bad one costs no other. */
export function readEvents(given: readonly unknown[]): ReadEvents {
  const events = new Map<string, HookEvent>()
  const refused: HookReceipt['refused'] = []
  for (const [at, one] of given.entries()) {
    const event = readOne(one)
    if (typeof event === 'string') refused.push({ id: idOf(one) ?? `#${at}`, reason: event })
    else events.set(event.id, event)
  }
  return { events: [...events.values()], refused }
}

/** An event, or why it is none. */
function readOne(value: unknown): HookEvent | string {
  if (isTooDeep(value as Json, deepest)) return `is nested more than ${deepest} levels deep`
  const { data, error } = HookEvent.safeParse(value)
  if (error) return firstIssue(error, 'the event')
  return Buffer.byteLength(JSON.stringify(data)) > eventBytes ? `is larger than ${eventBytes} bytes` : data
}

const idLength = 100

/** The id of an event that is refused, so that its machine can forget it. */
function idOf(value: unknown): string | undefined {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined
  return typeof id === 'string' && id.length <= idLength ? id : undefined
}
