import { cursorPages } from '../platform/paging.ts'
import { Session } from '../platform/schemas/session.ts'
import { wholeMs } from '../platform/times.ts'
import { nestedTable, recordTable } from './schema-tables.ts'
import { definePlatformStream } from './stream.ts'

/** Agent sessions (§4.2, endpoint 3). */
export const sessions = definePlatformStream({
  name: 'sessions',
  doc: 'Agent sessions that run on registered computers. A session changes with every message until it is done.',
  mode: 'full_refresh',
  reading: cursorPages({ endpoint: { base: 'v0', path: '/api/v0/sessions' }, items: 'sessions', pageSize: 100 }),
  schema: Session,
  primaryKey: 'sessionId',
  changedAt: ({ updatedAt }) => (typeof updatedAt === 'number' ? (wholeMs(updatedAt) ?? undefined) : undefined),
  secretPaths: [],
  personal: ['title'],
  tables: [
    recordTable(Session, {
      name: 'sessions',
      doc: 'Agent sessions: one row per session, with its settings and token usage as columns.',
      key: ['session_id'],
      fields: { sessionSettings: { prefix: '' } },
    }),
    nestedTable(Session, 'sessionSettings.tags', {
      name: 'session_tags',
      doc: 'Tags of sessions: one row per session and tag.',
      parentKey: { field: 'sessionId', column: 'session_id' },
      elementKey: { column: 'position', doc: "Place in the session's list of tags, from 0." },
    }),
  ],
})
