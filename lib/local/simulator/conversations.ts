import { messageCountOf } from './generators.ts'
import { messageIdOf, messageIndexOf, messageOf } from './records/messages.ts'
import type { RecordGenerator } from './resource.ts'

/** The messages of one session, as JSON text. */
type Conversation = { count: number; at(index: number): string }

/** The messages of all sessions: generated ones, and after them those that were added through the API. */
export type Conversations = {
  of(sessionId: string): Conversation
  find(sessionId: string, messageId: string): string | undefined
  /** The id of the message that `add` would add. */
  nextId(sessionId: string): string
  add(sessionId: string, text: string): void
}

/** Added messages freeze the generated ones before them, so that ids stay where they are. */
type Added = { generated: number; texts: string[] }

/** Makes the messages of the generated sessions; only added ones are held. */
export function createConversations(sessions: RecordGenerator, messagesPerSession: number): Conversations {
  const addedTo = new Map<string, Added>()

  const of = (sessionId: string): Conversation => {
    const position = sessions.positionOf(sessionId)
    const life = position === undefined ? undefined : sessions.population.at(position)
    const added = addedTo.get(sessionId)
    const generated = added?.generated ?? (life ? messageCountOf(life, messagesPerSession) : 0)
    const at = (index: number): string => {
      if (index >= generated || !life) return added?.texts[index - generated] as string
      return JSON.stringify(messageOf({ sessionId, index, key: life.key, createdAt: life.createdAt }))
    }
    return { count: generated + (added?.texts.length ?? 0), at }
  }

  const find = (sessionId: string, messageId: string): string | undefined => {
    const index = messageIndexOf(messageId)
    const { count, at } = of(sessionId)
    return index < count && messageIdOf(sessionId, index) === messageId ? at(index) : undefined
  }

  const add = (sessionId: string, text: string): void => {
    const added = addedTo.get(sessionId) ?? { generated: of(sessionId).count, texts: [] }
    added.texts.push(text)
    addedTo.set(sessionId, added)
  }

  return { of, find, add, nextId: (sessionId) => messageIdOf(sessionId, of(sessionId).count) }
}
