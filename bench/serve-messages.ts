import { openSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Conversations, writeConversations } from './conversations.ts'
import { bodyAt, type PagesFile, placeOf, writePages } from './pages.ts'
import { answering } from './processes.ts'

/** A platform of prerendered pages: so many sessions with their messages, in two states that differ in a share of them. */
export type MessagesPlatform = { dir: string; sessions: number; messagesPerSession: number; changedShare: number }

/**
 * Its address, to which `/<state>/<latency in ms>` is to be added, with `/asked` for how many lists of messages it was
 * asked for; how many messages there are at first, and how many lists differ in the second state.
 */
export type MessagesPlatformAnswer = { address: string; messages: number; changedLists: number }

type State = { pages: PagesFile & { descriptor: number }; conversations: Conversations }

answering(async ({ dir, ...wanted }: MessagesPlatform): Promise<MessagesPlatformAnswer> => {
  const states: State[] = []
  for (const state of [0, 1]) {
    const described = { ...wanted, state, isGzip: false }
    const pages = await writePages(join(dir, `sessions-${state}`), described)
    const conversations = await writeConversations(join(dir, `messages-${state}`), described)
    states.push({ pages: { ...pages, descriptor: openSync(pages.file, 'r') }, conversations })
  }
  const [first, second] = states as [State, State]
  let asked = 0
  const server = createServer((request, response) => {
    const { state, latencyMs, sessionId, page } = questionOf(request)
    if (request.url === '/asked') return send(response, Buffer.from(JSON.stringify(asked)))
    if (sessionId === undefined) return answer(response, pageAt(states[state] as State, page), latencyMs)
    asked += 1
    const later = state === 1 ? second.conversations.bodyOf(sessionId) : undefined
    answer(response, later ?? first.conversations.bodyOf(sessionId), latencyMs)
  })
  server.keepAliveTimeout = 120_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { address, messages: first.conversations.messages, changedLists: second.conversations.lists }
})

function questionOf({ url = '' }: IncomingMessage) {
  const [, state, latencyMs] = /^\/(\d)\/(\d+)\//.exec(url) ?? []
  const sessionId = /\/sessions\/([^/?]+)\/messages/.exec(url)?.[1]
  const page = Number(/[?&]cursor=(\d+)/.exec(url)?.[1] ?? 0)
  return { state: Number(state), latencyMs: Number(latencyMs), sessionId, page }
}

function pageAt({ pages }: State, page: number): Buffer {
  return bodyAt(pages.descriptor, placeOf(pages, page))
}

function answer(response: ServerResponse, body: Buffer | undefined, latencyMs: number): void {
  if (latencyMs === 0) send(response, body)
  else setTimeout(() => send(response, body), latencyMs)
}

function send(response: ServerResponse, body: Buffer | undefined): void {
  const headers = { 'content-type': 'application/json', 'content-length': body?.byteLength ?? 0 }
  response.writeHead(body ? 200 : 404, headers).end(body)
}
