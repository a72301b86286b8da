import * as z from 'zod'
import { type Answer, type Call, failure, json } from '../answer.ts'
import { hash32, uuidOf } from '../random.ts'
import type { World } from '../world.ts'

type Deps = { world: World }

// Response-only fields (§2.3): the request form does not carry them.
const SessionSettings = z.looseObject({ tokenUsage: z.never().optional(), inclusiveTokenUsage: z.never().optional() })
const NewSession = z.looseObject({
  computerId: z.string().min(1),
  cwd: z.string().min(1).max(4096).optional(),
  sessionSettings: SessionSettings.optional(),
})
const SessionUpdate = z.looseObject({ sessionSettings: SessionSettings.optional() })

/** Answers 400 and says which field is wrong. */
export function refuse({ issues }: z.ZodError): Answer {
  const [first] = issues
  return failure(400, 'invalid_request', `${first?.path.join('.') || 'body'}: ${first?.message}`)
}

/** POST /sessions: 404 for a computer that is not there. */
export function createSession({ body }: Call, { world }: Deps): Answer {
  const parsed = NewSession.safeParse(body)
  if (!parsed.success) return refuse(parsed.error)
  const { computerId, sessionSettings } = parsed.data
  if (world.resources.computers.get(computerId) === undefined) return failure(404, 'not_found', 'computer not found')
  const session = {
    sessionId: freeId(world),
    status: 'idle',
    messageCount: 0,
    createdAt: world.now(),
    updatedAt: world.now(),
    computerId,
    sessionSettings,
  }
  world.resources.sessions.put(session.sessionId, JSON.stringify(session))
  return json(201, session)
}

/** An id that no session has, the same in every run that does the same. */
function freeId({ resources }: World): string {
  for (let n = resources.sessions.writtenRecords().length; ; n += 1) {
    const id = uuidOf(hash32(0x5e55, 0), n)
    if (resources.sessions.positionOf(id) === undefined) return id
  }
}

/** GET /sessions/{sessionId}. */
export function getSession({ params }: Call, { world }: Deps): Answer {
  const text = world.resources.sessions.get(params.sessionId as string)
  return text === undefined ? sessionMissing() : { status: 200, body: text }
}

/** The answer for a session that is not there. */
export function sessionMissing(): Answer {
  return failure(404, 'not_found', 'session not found')
}

/**
 * PATCH /sessions/{sessionId}. Whether it merges or replaces is "not shown" (§4.3 rule 5): the simulator merges the given
 * settings over the old ones, field by field at the top level.
 */
export function updateSession({ params, body }: Call, { world }: Deps): Answer {
  const parsed = SessionUpdate.safeParse(body ?? {})
  if (!parsed.success) return refuse(parsed.error)
  const text = world.resources.sessions.get(params.sessionId as string)
  if (text === undefined) return sessionMissing()
  const session = JSON.parse(text) as { updatedAt: number; sessionSettings?: object }
  const sessionSettings = { ...session.sessionSettings, ...parsed.data.sessionSettings }
  const updated = JSON.stringify({
    ...session,
    updatedAt: Math.max(world.now(), session.updatedAt + 1),
    sessionSettings,
  })
  world.resources.sessions.put(params.sessionId as string, updated)
  return { status: 200, body: updated }
}
