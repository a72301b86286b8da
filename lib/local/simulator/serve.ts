import type { IncomingMessage, RequestListener } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, type Call, failure } from './answer.ts'
import { type Controlled, control } from './control.ts'
import { deliver, latencyOf } from './delivery.ts'
import type { Limits } from './endpoints/limits.ts'
import { tokenOf } from './faults/answers.ts'
import type { FaultBook, Strike } from './faults/book.ts'
import type { Settings } from './options.ts'
import { answerCall } from './platform.ts'
import type { RequestLog } from './request-log.ts'
import { findRoute } from './routes.ts'
import type { World } from './world.ts'

type Deps = {
  settings: Settings
  world: World
  book: FaultBook
  limits: Limits
  log: RequestLog
  simulator: Controlled
}

/** Answers HTTP requests. */
export function requestListener(deps: Deps): RequestListener {
  return async (request, response) => {
    // A client may go away at any moment; that is its business.
    response.on('error', () => undefined)
    try {
      const text = request.method === 'GET' ? '' : await bodyOf(request)
      const { answer, strikes } = await answerRequest(request, text, deps)
      if (!response.destroyed) await deliver(response, answer, strikes)
    } catch (error) {
      if (response.destroyed || response.headersSent) return void response.destroy()
      const message = error instanceof Error ? error.message : String(error)
      await deliver(response, failure(500, 'simulator_broken', message), [])
    }
  }
}

type Answered = { answer: Answer; strikes: Strike[] }

async function answerRequest(request: IncomingMessage, text: string, deps: Deps): Promise<Answered> {
  const { method = 'GET', url = '/' } = request
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const query = mark < 0 ? '' : url.slice(mark + 1)
  const body = parsed(text)
  if (path.startsWith('/_simulator/'))
    return { answer: control({ method, path, body, text }, deps.simulator), strikes: [] }
  const route = findRoute(method, path)
  if (route === undefined || route === 'wrongMethod') {
    const answer = route
      ? failure(405, 'method_not_allowed', 'method not allowed')
      : failure(404, 'not_found', 'no such path')
    deps.log.add({ method, path, query, status: answer.status, endpoint: null })
    return { answer, strikes: [] }
  }
  const call: Call = { ...route, query: new URLSearchParams(query), body, authorization: request.headers.authorization }
  const strikes = deps.book.strikes(call, tokenOf(call))
  const latencyMs = latencyOf(strikes, deps.settings.latencyMs)
  if (latencyMs > 0) await wait(latencyMs, undefined, { ref: false })
  const lost = strikes.some(({ rule }) => rule.kind === 'reset' && !rule.handled)
  const answer = lost ? { status: 0, body: '' } : answerCall(call, strikes, deps)
  deps.log.add({ method, path, query, status: answer.status, endpoint: call.endpoint })
  return { answer, strikes }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** A body that is no JSON counts as none: the request checks refuse it where one is needed. */
function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
