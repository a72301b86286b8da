import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** What a stub server saw of a request. */
export type Seen = { method: string; path: string; query: Record<string, string>; headers: Headers; body: unknown }

type Reply = (response: ServerResponse, seen: Seen, request: IncomingMessage) => void

/** As servers with long page tokens have it. */
const maxHeaderSize = 64 * 1024

/** A server on the loopback that answers the nth request with the nth reply, the last one for ever; it ends with the test. */
export async function stubServer(...replies: Reply[]): Promise<{ url: string; seen: Seen[]; server: Server }> {
  const seen: Seen[] = []
  const server = createServer({ maxHeaderSize }, async (request, response) => {
    const chunks = await request.toArray()
    const text = Buffer.concat(chunks).toString()
    const url = new URL(request.url ?? '/', 'http://stub')
    const record: Seen = {
      method: request.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: new Headers(request.headers as Record<string, string>),
      body: text === '' ? undefined : JSON.parse(text),
    }
    seen.push(record)
    replies[Math.min(seen.length, replies.length) - 1]?.(response, record, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, server }
}

/** Answers with JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Reply {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** Answers with a text as it is. */
export function text(body: string | Buffer, status = 200, headers: Record<string, string> = {}): Reply {
  return (response) => response.writeHead(status, headers).end(body)
}

/** Cuts the connection without an answer. */
export const cut: Reply = (response) => response.socket?.resetAndDestroy()
