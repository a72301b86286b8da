import { openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createConversations } from '../lib/local/simulator/conversations.ts'
import { bodyAt, type PagesWanted, type Place, sessionsOf } from './pages.ts'

/** The lists of messages of sessions in a file, each of one page. */
export type Conversations = {
  /** How many lists there are, and how many messages in them. */
  readonly lists: number
  readonly messages: number
  /** The body of a session's list; undefined where the file has none. */
  bodyOf(sessionId: string): Buffer | undefined
}

const perPage = 100

/**
 * Writes the list of each session once, so that serving it costs next to nothing; of a later state only those that differ
 * from the first one.
 * @throws Error for a list of more than a page: what is measured is a request a session.
 */
export async function writeConversations(file: string, wanted: PagesWanted): Promise<Conversations> {
  const { generator, messagesPerSession } = sessionsOf(wanted)
  const conversations = createConversations(generator, { messagesPerSession, oddMessages: 0 })
  const places = new Map<string, Place>()
  let messages = 0
  const handle = await open(file, 'w')
  try {
    for (let at = 0, start = 0; at < wanted.sessions; at++) {
      const life = generator.population.at(at)
      if (life === undefined) throw new Error(`there is no session at ${at}`)
      if (wanted.state > 0 && life.version === 0) continue
      const id = generator.idOf(life)
      const { end, at: messageAt } = conversations.of(id)
      const texts = Array.from({ length: end }, (_, n) => messageAt(n)).filter((text) => text !== undefined)
      if (texts.length > perPage) throw new Error(`session ${id} has more messages than a page holds`)
      const body = Buffer.from(`{"messages":[${texts.join(',')}],"pagination":{"hasMore":false,"nextCursor":null}}`)
      await handle.write(body)
      places.set(id, { start, length: body.byteLength })
      start += body.byteLength
      messages += texts.length
    }
  } finally {
    await handle.close()
  }
  const descriptor = openSync(file, 'r')
  const bodyOf = (sessionId: string): Buffer | undefined => {
    const place = places.get(sessionId)
    return place && bodyAt(descriptor, place)
  }
  return { lists: places.size, messages, bodyOf }
}
