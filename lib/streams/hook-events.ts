import * as z from 'zod'
import { openEnum, resource, timeText } from '../platform/fields.ts'
import { parseTime } from '../platform/times.ts'
import { recordTable } from './schema-tables.ts'
import { defineStream } from './stream.ts'

/** What happened on somebody's machine, as the collector keeps it. What the agent says besides stays in the record. */
export const HookEventRecord = resource(() => ({
  eventId: z.string().min(1).describe('Given when the event happened; a repetition has the same id.'),
  eventName: openEnum('Notification', 'Stop', 'SubagentStop', 'SessionEnd').describe(
    'What happened: Notification, Stop, SubagentStop or SessionEnd (§6.1). Other names are kept.',
  ),
  sessionId: z.string().nullish().describe('Session in which it happened; joins sessions.session_id (§6.1).'),
  reason: z.string().nullish().describe('Why the session ended; of a SessionEnd (§6.1).'),
  message: z
    .string()
    .nullish()
    .describe('What the agent waits for; of a Notification (§6.1). Secrets are replaced by fingerprints.'),
  cwd: z
    .string()
    .nullish()
    .describe('Working directory of the agent (§6.1): kept, hashed or dropped by configuration.'),
  host: z.string().nullish().describe('Name of the machine: hashed unless the configuration says otherwise.'),
  agentVersion: z.string().nullish().describe('Version of the agent, where it is known.'),
  occurredAt: timeText().describe('When it happened, by the clock of the machine.'),
  receivedAt: timeText().describe('When the collector took it in.'),
  storedAt: timeText().describe('When the collector wrote it to the lake, from where a run takes it.'),
}))
export type HookEventRecord = z.infer<typeof HookEventRecord>

/** Events of the agent on people's machines. They come from the collector, not from a list of the platform. */
export const hookEvents = defineStream({
  name: 'hook_events',
  doc: "Events of the command-line agent on people's machines, as its hooks sent them. Rows are added when events arrive.",
  mode: 'append',
  // The collector's function takes the time before it writes, and may live for a minute; the rest is for its clock.
  lateMs: 10 * 60_000,
  changedAt: ({ storedAt }) => parseTime(String(storedAt)) ?? undefined,
  schema: HookEventRecord,
  primaryKey: 'eventId',
  secretPaths: [],
  personal: ['cwd', 'host', 'message'],
  tables: [
    recordTable(HookEventRecord, {
      name: 'hook_events',
      doc: "Events on people's machines: one row per event.",
      key: ['event_id'],
    }),
  ],
})
