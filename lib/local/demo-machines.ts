import { randomUUID } from 'node:crypto'
import type { HookEvent } from '../hooks/hook-event.ts'

const minute = 60_000
const repositories = ['acme-web', 'acme-api', 'acme-infra']

/**
 * What the agent's hooks say on one developer's machine in a few hours: in each session it waits for somebody, finishes a
 * task and ends.
 */
export function eventsOfMachine(sessionIds: readonly string[], now: number): HookEvent[] {
  return sessionIds.flatMap((session_id, i) => {
    const cwd = `/home/dev/src/${repositories[i % repositories.length]}`
    const event = (afterMinutes: number, input: { hook_event_name: string; message?: string; reason?: string }) => ({
      id: randomUUID(),
      occurredAt: new Date(now - (240 - 5 * i - afterMinutes) * minute).toISOString(),
      host: 'dev-laptop-1',
      agentVersion: '1.4.2',
      input: { session_id, cwd, ...input },
    })
    const waited = 1 + ((i * 7) % 23)
    return [
      event(0, { hook_event_name: 'Notification', message: 'The agent needs your permission to run a command' }),
      event(waited, { hook_event_name: 'Stop' }),
      event(waited + 2, { hook_event_name: 'SessionEnd', reason: i % 5 === 0 ? 'error' : 'other' }),
    ]
  })
}
