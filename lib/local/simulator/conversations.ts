import type { Life } from './population.ts'
import { planOf } from './records/conversation.ts'
import { messageIdOf, messageIndexOf, messageOf } from './records/messages.ts'
import type { RecordGenerator } from './resource.ts'

/** The messages of one session, as JSON text. Positions run from 0 to `end`, with holes. */
type Conversation = { readonly end: number; at(position: number): string | undefined }

/** The messages of all sessions: generated ones, and after them those that were added through the API. */
export type Conversations = {
  of(sessionId: string): Conversation
  find(sessionId: string, messageId: string): string | undefined
  /** The id of the message that `add` would add. */
  nextId(sessionId: string): string
  add(sessionId: string, text: string): void
  /** Sets all messages of a session, whatever they hold. */
  put(sessionId: string, texts: readonly string[]): void
}

/** Added messages freeze the generated ones before them, so that ids stay where they are. */
type Added = { readonly version: number; readonly texts: string[] }

type Options = { readonly messagesPerSession: number; readonly oddMessages: number }

/** Makes the messages of the generated sessions; only added ones are held. */
export function createConversations(
  sessions: RecordGenerator,
  { messagesPerSession, oddMessages: odd }: Options,
): Conversations {
  const addedTo = new Map<string, Added>()
  const written = new Map<string, readonly string[]>()
  const { population } = sessions

  const of = (sessionId: string): Conversation => {
    const texts = written.get(sessionId)
    if (texts) return { end: texts.length, at: (position) => texts[position] }
    const position = sessions.positionOf(sessionId)
    const found = position === undefined ? undefined : population.at(position)
    const added = addedTo.get(sessionId)
    if (position === undefined || !found) return { end: added?.texts.length ?? 0, at: (at) => added?.texts[at] }
    const life: Life = { ...found, version: added?.version ?? found.version }
    const plan = planOf(life, messagesPerSession)
    const changes = life.version > 0 ? population.changesAt(position) : []
    const at = (index: number): string | undefined => {
      if (index >= plan.created) return added?.texts[index - plan.created]
      if (index > 0 && index <= plan.gone) return undefined
      return JSON.stringify(messageOf({ sessionId, life, plan, changes, index, odd }))
    }
    return { end: plan.created + (added?.texts.length ?? 0), at }
  }

  const find = (sessionId: string, messageId: string): string | undefined => {
    const index = messageIndexOf(messageId)
    const { end, at } = of(sessionId)
    return index < end && messageIdOf(sessionId, index) === messageId ? at(index) : undefined
  }

  const add = (sessionId: string, text: string): void => {
    const position = sessions.positionOf(sessionId)
    const version = (position === undefined ? undefined : population.at(position)?.version) ?? 0
    const added = addedTo.get(sessionId) ?? { version, texts: [] }
    added.texts.push(text)
    addedTo.set(sessionId, added)
  }

  const nextId = (sessionId: string) => messageIdOf(sessionId, of(sessionId).end)
  return { of, find, add, nextId, put: (sessionId, texts) => void written.set(sessionId, texts) }
}
