import { cursorPages } from '../platform/paging.ts'
import { Session, SessionTag, TokenUsage } from '../platform/schemas/session.ts'
import { field, snakeCase, within } from './columns.ts'
import { defineStream } from './stream.ts'
import { type Column, type ColumnType, defineTable } from './table.ts'

/** A setting of a session, as a column named after the setting alone. */
function setting(path: string, type?: ColumnType): Column<Session> {
  return field(Session, `sessionSettings.${path}`, { name: snakeCase(path), ...(type === undefined ? {} : { type }) })
}

const usage = Object.keys(TokenUsage.shape)
function inclusive(column: Column<Session>): Column<Session> {
  return {
    ...column,
    doc: column.doc.replace(' (§', ', child sessions included (§'),
  }
}

const sessionId = field(Session, 'sessionId')

const sessionsTable = defineTable({
  name: 'sessions',
  doc: 'Agent sessions: one row per session, with its settings and token usage as columns.',
  key: ['session_id'],
  each: (session: Session) => [session],
  columns: [
    sessionId,
    field(Session, 'status'),
    field(Session, 'messageCount'),
    field(Session, 'createdAt', { type: 'timestamp' }),
    field(Session, 'updatedAt', { type: 'timestamp' }),
    field(Session, 'completedAt', { type: 'timestamp' }),
    field(Session, 'title'),
    field(Session, 'computerId'),
    setting('model'),
    setting('reasoningEffort'),
    setting('interactionMode'),
    setting('autonomyLevel'),
    setting('autonomyMode'),
    setting('specModeModel'),
    setting('specModeReasoningEffort'),
    setting('providerLock'),
    setting('providerLockTimestamp', 'timestamp'),
    setting('apiProviderLock'),
    setting('assistantActiveTimeMs'),
    ...usage.map((name) => setting(`tokenUsage.${name}`)),
    ...usage.map((name) => inclusive(setting(`inclusiveTokenUsage.${name}`))),
    setting('childInclusiveTokenUsageBySessionId'),
    setting('archivedAt', 'timestamp'),
    setting('tags'),
    setting('enabledToolIds'),
    setting('disabledToolIds'),
  ],
})

type TagRow = { session: Session; position: number; tag: SessionTag }

const tags = defineTable({
  name: 'session_tags',
  doc: 'Tags of sessions: one row per session and tag.',
  key: ['session_id', 'position'],
  each: (session: Session): TagRow[] =>
    session.sessionSettings?.tags?.map((tag, position) => ({ session, position, tag })) ?? [],
  columns: [
    within(({ session }: TagRow) => session, sessionId),
    {
      name: 'position',
      type: 'int64',
      doc: "Place in the session's list of tags, from 0.",
      value: (row) => row.position,
    },
    within(({ tag }: TagRow) => tag, field(SessionTag, 'name')),
    within(({ tag }: TagRow) => tag, field(SessionTag, 'metadata')),
  ],
})

/** Agent sessions (§4.2, endpoint 3). */
export const sessions = defineStream({
  name: 'sessions',
  doc: 'Agent sessions that run on registered computers. A session changes with every message until it is done.',
  endpoint: { base: 'v0', path: '/api/v0/sessions' },
  paging: cursorPages('sessions'),
  schema: Session,
  primaryKey: 'sessionId',
  changedAt: ({ updatedAt }) => (typeof updatedAt === 'number' ? updatedAt : undefined),
  secretPaths: [],
  timeStrings: ['sessionSettings.providerLockTimestamp', 'sessionSettings.archivedAt'],
  tables: [sessionsTable, tags],
})
