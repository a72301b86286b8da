import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FatalError, messageOf } from '../core/errors.ts'
import type { Log } from '../core/log.ts'

/** Makes the page of a path as it stands at this moment; null where there is none. */
export type PageMaker = (path: string) => Promise<string | null>

/** A server of pages on this machine. */
export type PageServer = { url: string; close(): Promise<void> }

/** What a page may load, which is nothing, and who may keep or frame it, which is nobody. */
const headers = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

/**
 * Serves pages on the loopback interface, to whoever asks for this machine by its own name: a site elsewhere whose name was
 * made to lead here gets nothing (DNS rebinding). @throws FatalError `usage` when the port is taken.
 */
export async function startPageServer({
  port,
  make,
  log,
}: {
  port: number
  make: PageMaker
  log: Log
}): Promise<PageServer> {
  const server = createServer((request, response) => void answer(request, response, { make, log }))
  const own = await listen(server, port)
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${own}/`, close }
}

type Answering = { make: PageMaker; log: Log }

async function answer(request: IncomingMessage, response: ServerResponse, { make, log }: Answering): Promise<void> {
  // Whoever asked may go away at any moment.
  response.on('error', () => response.destroy())
  const { method = '', url = '/' } = request
  if (!isOwnName(request)) return say(response, 421, 'This server answers to 127.0.0.1 and localhost alone.')
  if (method !== 'GET' && method !== 'HEAD') return say(response, 405, 'Pages are to be read: use GET.')
  try {
    const page = await make(url.replace(/[?#].*$/s, ''))
    if (page === null) return say(response, 404, 'There is no such page. The first one is at /.')
    response.writeHead(200, { ...headers, 'content-type': 'text/html; charset=utf-8' })
    response.end(method === 'HEAD' ? undefined : page)
  } catch (error) {
    log.error('A page could not be made.', { page: url, reason: messageOf(error) })
    say(response, 503, messageOf(error))
  }
}

function isOwnName({ headers: { host = '' }, socket }: IncomingMessage): boolean {
  const port = socket.localPort
  return host === `127.0.0.1:${port}` || host === `localhost:${port}`
}

function say(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { ...headers, 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'another process has it' : cause.message
      reject(new FatalError(`Port ${port} can't be used: ${why}. Name another --port.`, { code: 'usage', cause }))
    })
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}
