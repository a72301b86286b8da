import { FatalError, RejectedError, type SyncError } from '../../../lib/core/errors.ts'
import type { Json } from '../../../lib/core/json.ts'
import { sessions } from '../../../lib/streams/sessions.ts'
import type { Source } from '../../../lib/sync/ports.ts'
import { pageOf, session } from './source.ts'

type Talk = { updatedAt: number; title: string; count: number | null; messages: Text[] }

/** A message as it is listed. */
export type Text = { [key: string]: Json }

/** Something that happens right before a request for messages is answered: it may change the platform, or throw. */
export type Before = (request: { session: string; cursor: string | null; n: number }) => void

/** A platform of sessions with messages, each list cut into pages of three. */
export function createConversations() {
  const talks = new Map<string, Talk>()
  const ended: [string, Talk][] = []
  const asked: string[] = []
  let before: Before = () => {}
  let now = Date.UTC(2026, 0, 2)

  const listed = () =>
    [...talks].map(([id, { updatedAt, title, count, messages }]) => ({
      ...session(0, { updatedAt, title, messageCount: count ?? messages.length }),
      sessionId: id,
    }))
  const messagesAt = (id: string, cursor: string | null) => {
    const talk = talks.get(id)
    if (!talk) throw new RejectedError('404', { code: 'not_found', status: 404 })
    const from = cursor === null ? 0 : Number(cursor)
    const records = structuredClone(talk.messages.slice(from, from + 3))
    const isLast = from + 3 >= talk.messages.length
    return { records, nextToken: isLast ? null : String(from + 3) }
  }
  const source: Source = {
    fetchPage: async ({ name }, token, { parent, signal, onRequest }) => {
      signal.throwIfAborted()
      onRequest()
      if (name === sessions.name) return pageOf({ records: listed(), nextToken: null })
      asked.push(`${parent}${token === null ? '' : `@${token}`}`)
      before({ session: parent!, cursor: token, n: asked.length })
      return pageOf(messagesAt(parent!, token))
    },
  }

  return {
    source,
    /** The pages of messages that were asked for since the last call: the session, and the cursor after an @. */
    takeAsked: () => asked.splice(0),
    /** What happens before each request for messages from here on. */
    beforeEach: (happens: Before) => {
      before = happens
    },
    /** Gives a session so many messages, and a later time of change. */
    talk: (id: string, count: number) => {
      now += 1_000
      const messages = Array.from({ length: count }, (_, n) => message(`m${n}`, { updatedAt: now - 500 }))
      talks.set(id, { updatedAt: now, title: 't', count: null, messages })
    },
    /** Changes the messages of a session, and with `silently` not the session itself. */
    change: (id: string, change: (messages: Text[]) => Text[], { silently = false } = {}) => {
      const talk = talks.get(id)!
      now += 1_000
      talks.set(id, { ...talk, messages: change(talk.messages), ...(silently ? {} : { updatedAt: now }) })
    },
    retitle: (id: string, title: string) => void talks.set(id, { ...talks.get(id)!, title }),
    claim: (id: string, count: number) => void talks.set(id, { ...talks.get(id)!, count }),
    end: (id: string) => {
      ended.push([id, talks.get(id)!])
      talks.delete(id)
    },
    /** Brings back the session that ended last, as it was. */
    revive: () => {
      const [id, talk] = ended.pop() ?? ['', null]
      if (talk && !talks.has(id)) talks.set(id, talk)
    },
    /** The keys of all messages, as the engine writes them. */
    keys: () => [...talks].flatMap(([id, { messages }]) => messages.map((each) => `${id}/${each.id}`)).sort(),
    ids: () => [...talks.keys()],
    /** All messages as they are to be stored, by key. */
    records: () =>
      new Map(
        [...talks].flatMap(([id, { messages }]) =>
          messages.map((each) => [`${id}/${each.id}`, { ...each, sessionId: id }] as const),
        ),
      ),
    now: () => now,
  }
}
export type Conversations = ReturnType<typeof createConversations>

/** A message as a session's list shows it. */
export function message(id: string, fields: Text = {}): Text {
  const createdAt = Date.UTC(2026, 0, 1)
  return { id, role: 'user', content: [{ type: 'text', text: id }], createdAt, updatedAt: createdAt, ...fields }
}

/** Throws an error for one session. */
export function refusing(
  id: string,
  error: SyncError = new FatalError('403', { code: 'forbidden', status: 403 }),
): Before {
  return ({ session }) => {
    if (session === id) throw error
  }
}
