import { type Answer, type Call, type EndpointName, failure } from './answer.ts'
import { type Limits, setUserLimits } from './endpoints/limits.ts'
import { cursorList, listComputers, listReports } from './endpoints/lists.ts'
import { addMessage, getMessage, listMessages } from './endpoints/messages.ts'
import { createSession, getSession, updateSession } from './endpoints/sessions.ts'
import { answerInstead } from './faults/answers.ts'
import type { Strike } from './faults/book.ts'
import { setLimitsUnder } from './faults/limits.ts'
import { bendList } from './faults/lists.ts'
import type { Settings } from './options.ts'
import type { World } from './world.ts'

type Deps = { world: World; settings: Settings; limits: Limits }

const handlers: Readonly<Record<EndpointName, (call: Call, deps: Deps) => Answer>> = {
  listReports,
  listRevisions: cursorList('changes', 'revisions'),
  listSessions: cursorList('sessions', 'sessions'),
  createSession,
  getSession,
  updateSession,
  listMessages,
  addMessage,
  getMessage,
  listComputers,
  listUsers: cursorList('users', 'users'),
  setUserLimits,
}

/** Answers a call as docs/platform.md says, and as the faults that strike it say. */
export function answerCall(call: Call, strikes: readonly Strike[], deps: Deps): Answer {
  for (const { rule } of strikes) {
    const instead = answerInstead(rule, call)
    if (instead) return instead
  }
  if (!isAuthorized(call, deps.settings)) return failure(401, 'unauthorized', 'missing or invalid API key')
  const handle = (asked: Call) => handlers[asked.endpoint](asked, deps)
  const underLimits = strikes.reduce<(asked: Call) => Answer>(
    (next, { rule }) => (call.endpoint === 'setUserLimits' ? (asked) => setLimitsUnder(rule, asked, next) : next),
    handle,
  )
  const relist = (token: string | null) => handle({ ...call, query: atToken(call, token) })
  return strikes.reduce((answer, strike) => bendList(answer, strike, { call, relist }), underLimits(call))
}

function isAuthorized({ authorization }: Call, { apiKeys }: Settings): boolean {
  return apiKeys.some((key) => authorization === `Bearer ${key}`)
}

function atToken({ query, endpoint }: Call, token: string | null): URLSearchParams {
  const moved = new URLSearchParams(query)
  const name = endpoint === 'listReports' ? 'startAfter' : 'cursor'
  if (token === null) moved.delete(name)
  else moved.set(name, token)
  return moved
}
