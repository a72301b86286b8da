import { segment } from '../platform/checks.ts'
import { cursorPages } from '../platform/paging.ts'
import { wholeMs } from '../platform/times.ts'
import { messageTables, messageWriting, SessionMessage } from './message-tables.ts'
import { sessions } from './sessions.ts'
import { definePlatformStream } from './stream.ts'

function timeOf(value: unknown): number | undefined {
  return typeof value === 'number' ? (wholeMs(value) ?? undefined) : undefined
}

/** Messages of sessions (§4.2, endpoint 7): a list per session. */
export const sessionMessages = definePlatformStream({
  name: 'session_messages',
  doc: 'Messages of agent sessions. A session that changed is read again, and one that is gone takes its messages along.',
  mode: 'incremental',
  parent: {
    stream: sessions,
    watermark: ({ updatedAt = null, messageCount = null }) => JSON.stringify([updatedAt, messageCount]),
    size: ({ messageCount }) => (Number.isSafeInteger(messageCount) ? (messageCount as number) : undefined),
  },
  reading: cursorPages({
    endpoint: (sessionId) => ({ base: 'v0', path: `/api/v0/sessions/${segment(sessionId, 'sessionId')}/messages` }),
    items: 'messages',
    pageSize: 100,
  }),
  schema: SessionMessage,
  primaryKey: ['sessionId', 'id'],
  changedAt: ({ updatedAt }) => timeOf(updatedAt),
  secretPaths: [],
  writing: messageWriting,
  tables: messageTables,
})
