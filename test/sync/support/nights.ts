import { sessionMessages } from '../../../lib/streams/session-messages.ts'
import { sessions } from '../../../lib/streams/sessions.ts'
import { createConversations } from './conversations.ts'
import { createWorld } from './world.ts'

/** A world with conversations, of which nothing was read yet. */
export function begin(talks: Record<string, number>) {
  const platform = createConversations()
  for (const [id, count] of Object.entries(talks)) platform.talk(id, count)
  const world = createWorld()
  return {
    platform,
    world,
    readSessions: () => world.sync(sessions, platform.source),
    readMessages: (more: Parameters<typeof world.sync>[2] = {}) => world.sync(sessionMessages, platform.source, more),
    night: async () => {
      await world.sync(sessions, platform.source)
      return world.sync(sessionMessages, platform.source)
    },
    live: () => world.live(sessionMessages).sort(),
  }
}
