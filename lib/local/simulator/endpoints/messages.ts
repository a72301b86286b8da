import * as z from 'zod'
import { type Answer, type Call, failure, json } from '../answer.ts'
import type { Settings } from '../options.ts'
import type { World } from '../world.ts'
import { limitOf, paginationOf, startOf } from './lists.ts'
import { refuse, sessionMissing } from './sessions.ts'

type Deps = { world: World; settings: Settings }

const Attachment = { type: z.literal('base64'), data: z.string(), mediaType: z.string().min(1) }
const NewMessage = z.looseObject({
  text: z.string(),
  images: z.array(z.looseObject(Attachment)).optional(),
  files: z
    .array(
      z.looseObject({
        ...Attachment,
        parsedData: z.string().optional(),
        name: z.string().optional(),
        path: z.string().optional(),
      }),
    )
    .optional(),
  computerId: z.string().optional(),
})
const roles: readonly (string | null)[] = [null, 'user', 'assistant', 'tool']

/** GET /sessions/{sessionId}/messages, with its filter by role. */
export function listMessages({ params, query }: Call, { world, settings }: Deps): Answer {
  const limit = limitOf(query, settings)
  if (typeof limit !== 'number') return limit
  const start = startOf(query)
  if (typeof start !== 'number') return start
  const role = query.get('role')
  if (!roles.includes(role)) return failure(400, 'invalid_request', 'role must be user, assistant or tool')
  const sessionId = params.sessionId as string
  if (world.resources.sessions.get(sessionId) === undefined) return sessionMissing()
  const { records, next } = sliceOf(world.conversations.of(sessionId), { start, limit, role })
  return { status: 200, body: { items: 'messages', records, pagination: paginationOf(next) } }
}

type Conversation = ReturnType<World['conversations']['of']>

function sliceOf(
  { end, at }: Conversation,
  { start, limit, role }: { start: number; limit: number; role: string | null },
) {
  const records: string[] = []
  for (let position = start; position < end; position += 1) {
    const text = at(position)
    if (text === undefined || (role !== null && (JSON.parse(text) as { role: string }).role !== role)) continue
    if (records.length === limit) return { records, next: position }
    records.push(text)
  }
  return { records, next: null }
}

/** GET /sessions/{sessionId}/messages/{messageId}. */
export function getMessage({ params }: Call, { world }: Deps): Answer {
  const sessionId = params.sessionId as string
  if (world.resources.sessions.get(sessionId) === undefined) return sessionMissing()
  const text = world.conversations.find(sessionId, params.messageId as string)
  if (text !== undefined) return { status: 200, body: text }
  return failure(404, 'not_found', 'message not found')
}

/** POST /sessions/{sessionId}/messages: the session has one more message, and runs. */
export function addMessage({ params, body }: Call, { world }: Deps): Answer {
  const parsed = NewMessage.safeParse(body)
  if (!parsed.success) return refuse(parsed.error)
  const sessionId = params.sessionId as string
  const text = world.resources.sessions.get(sessionId)
  if (text === undefined) return sessionMissing()
  const session = JSON.parse(text) as { messageCount: number; updatedAt: number; computerId?: string | null }
  const computerId = parsed.data.computerId ?? session.computerId
  if (!computerId)
    return failure(400, 'invalid_request', 'computerId: the session has none, so the message must name one')
  if (world.resources.computers.get(computerId) === undefined) return failure(404, 'not_found', 'computer not found')
  const id = world.conversations.nextId(sessionId)
  const at = Math.max(world.now(), session.updatedAt + 1)
  const message = {
    id,
    role: 'user',
    content: [{ type: 'text', text: parsed.data.text }],
    createdAt: at,
    updatedAt: at,
  }
  world.conversations.add(sessionId, JSON.stringify(message))
  const messageCount = session.messageCount + 1
  world.resources.sessions.put(
    sessionId,
    JSON.stringify({ ...session, messageCount, updatedAt: at, status: 'running' }),
  )
  return json(200, { messageId: id, status: 'running' })
}
