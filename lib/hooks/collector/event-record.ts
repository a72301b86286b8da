import { createHmac } from 'node:crypto'
import type { Json } from '../../core/json.ts'
import type { HookEventRecord } from '../../streams/hook-events.ts'
import type { HookEvent } from '../hook-event.ts'

/** What becomes of a value that says something about a person: `hashed` ones can be told apart and not read. */
export const privacyChoices = ['kept', 'hashed', 'dropped'] as const
export type PrivacyChoice = (typeof privacyChoices)[number]

/** The choices of an installation, and the key under which values are hashed. */
export type Privacy = { cwd: PrivacyChoice; host: PrivacyChoice; key: string }

/** The choices where the configuration makes none. */
export const defaultPrivacy = { cwd: 'kept', host: 'hashed' } as const satisfies Omit<Privacy, 'key'>

type Times = { receivedAt: string; storedAt: string }

/** The record of an event. Fields that we don't know stay, under a name of their own where ours is the same. */
export function eventRecord({ id, occurredAt, host, agentVersion, input }: HookEvent, times: Times, privacy: Privacy) {
  const { hook_event_name, session_id, cwd, message, reason, ...unknown } = input
  const record: Record<keyof HookEventRecord, Json> = {
    eventId: id,
    eventName: hook_event_name,
    sessionId: (session_id as Json | undefined) ?? null,
    reason: (reason as Json | undefined) ?? null,
    message: (message as Json | undefined) ?? null,
    cwd: protect('cwd', cwd as Json | undefined, privacy),
    host: protect('host', host, privacy),
    agentVersion: agentVersion ?? null,
    occurredAt,
    ...times,
  }
  const others = Object.entries(unknown).map(([name, value]) => [name in record ? `input_${name}` : name, value])
  return { ...Object.fromEntries(others), ...record } as { [name: string]: Json }
}

/** The name of the field is part of what is hashed: equal texts in two fields say nothing of each other. */
function protect(field: 'cwd' | 'host', value: Json | undefined, { key, ...choices }: Privacy): Json {
  const choice = choices[field]
  if (value === null || value === undefined || choice === 'dropped') return null
  if (choice === 'kept') return value
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `hashed:hmac-sha256:${createHmac('sha256', key).update(`${field} ${text}`).digest('hex').slice(0, 16)}`
}
