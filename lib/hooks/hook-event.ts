import * as z from 'zod'

/** The largest input that the agent may hand to a hook, and the largest body that the collector takes, in bytes. */
export const hookLimits = { inputBytes: 64 * 1024, bodyBytes: 256 * 1024, eventsPerBody: 100 } as const

/** What the agent says as a text (§6.1). Another form of it costs its column, and not its event. */
function said(meaning: string) {
  return z.unknown().optional().describe(`${meaning} (§6.1).`)
}

/** What the agent hands to a hook on standard input: common fields, and further ones by event (§6.1). Unknown ones stay. */
export const HookInput = z.looseObject({
  hook_event_name: z.string().describe('Name of the event: Notification, Stop, SubagentStop or SessionEnd (§6.1).'),
  session_id: said('Id of the session'),
  cwd: said('Working directory of the agent'),
  message: said('What the agent waits for; of a Notification'),
  reason: said('Why the session ended; of a SessionEnd; seen: error, other'),
})
export type HookInput = z.infer<typeof HookInput>

/** An event as a machine sends it: what the agent said, with an id that makes it one event however often it is sent. */
export const HookEvent = z.object({
  id: z.uuid().describe('Given when the event happened; a repetition has the same.'),
  occurredAt: z.iso.datetime().describe('When the hook ran, by the clock of the machine.'),
  host: z.string().max(255).describe('Name of the machine.'),
  agentVersion: z.string().max(100).optional().describe('Version of the agent, where it is known.'),
  input: HookInput,
})
export type HookEvent = z.infer<typeof HookEvent>

/** The body of `POST /v1/hook-events`. */
export const HookDelivery = z.object({ events: z.array(HookEvent).min(1).max(hookLimits.eventsPerBody) })
export type HookDelivery = z.infer<typeof HookDelivery>

/**
 * The answer with status 202: the ids that are durable, and those that are refused for good with the reason (a machine
 * forgets both). 401, 413, 429 and 5xx keep all of them for another time.
 */
export const HookReceipt = z.object({
  accepted: z.array(z.string()),
  refused: z.array(z.object({ id: z.string(), reason: z.string() })),
})
export type HookReceipt = z.infer<typeof HookReceipt>
