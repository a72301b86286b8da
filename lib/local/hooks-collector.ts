import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { composeCollect } from '../compose/hooks-collect.ts'
import type { composeStoreHooks } from '../compose/hooks-store.ts'
import { FatalError, messageOf } from '../core/errors.ts'
import { makeFolder } from '../core/folders.ts'
import type { Log } from '../core/log.ts'
import { type HookAnswer, headersOf, hookPath, type ReceiveDeps, receive } from '../hooks/collector/receive.ts'
import { storeBatch } from '../hooks/collector/store.ts'
import { hookLimits } from '../hooks/hook-event.ts'
import { pollOnce } from './poller.ts'

/** A collector on this machine. */
export type LocalCollector = {
  /** The address that machines send to. */
  url: string
  /** Stores what was taken in so far. */
  flush(): Promise<void>
  /** Takes in nothing more, stores what was taken in, and ends. */
  close(): Promise<void>
}

type Deps = {
  collect: Pick<ReturnType<typeof composeCollect>, 'sqs' | 'queueUrl' | 'receiveDeps'>
  store: Pick<ReturnType<typeof composeStoreHooks>, 'storeDeps'>
  log: Log
  /** 0 for a free one. */
  port: number
}

/**
 * Plays API Gateway, the event source mapping and both functions on the loopback interface.
 * @throws FatalError `usage` when the port is taken.
 */
export async function startLocalCollector({ collect, store, log, port }: Deps): Promise<LocalCollector> {
  const stop = new AbortController()
  const server = createServer((request, response) => void answer(request, response, { ...collect.receiveDeps, log }))
  const url = await listen(server, port)
  const handle = async (records: readonly unknown[]) => storeBatch(records, await store.storeDeps())
  const poll = (waitSeconds: number, signal?: AbortSignal) =>
    pollOnce({ sqs: collect.sqs, queueUrl: collect.queueUrl, handle, log, waitSeconds, ...(signal ? { signal } : {}) })
  const work = async () => {
    while (!stop.signal.aborted) {
      await poll(1, stop.signal).catch((error: unknown) => {
        if (!stop.signal.aborted) throw error
      })
    }
  }
  const working = work()
  working.catch((error: unknown) => log.error('Nothing is stored any more.', { reason: messageOf(error) }))
  const flush = async () => {
    while ((await poll(0)).received > 0);
  }
  return {
    url: `${url}${hookPath}`,
    flush,
    close: async () => {
      await closeServer(server)
      stop.abort()
      await working
      await flush()
    },
  }
}

/** The token of a folder's collector, which is made when it is missing: its file, and its text. */
export function localHookToken(folder: string): { file: string; token: string } {
  const file = join(folder, 'hook-token')
  makeFolder(folder)
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('hex'), { mode: 0o600, flag: 'wx' })
  return { file, token: readFileSync(file, 'utf8').trim() }
}

async function answer(request: IncomingMessage, response: ServerResponse, deps: ReceiveDeps): Promise<void> {
  response.on('error', () => response.destroy())
  try {
    const given = request.method === 'POST' && request.url === hookPath
    if (!given) return reply(response, { status: 404, body: { error: `send POST ${hookPath}` } })
    const { authorization } = request.headers
    const taken = await receive({ authorization, body: await bodyOf(request) }, deps)
    reply(response, { ...taken, headers: headersOf(taken) })
  } catch (error) {
    deps.log.error('A request with hook events failed.', { reason: messageOf(error) })
    if (!response.headersSent) reply(response, { status: 500, body: { error: 'the collector failed' } })
  }
}

type Reply = { status: number; body: HookAnswer['body']; headers?: Record<string, string> }

function reply(response: ServerResponse, { status, body, headers }: Reply): void {
  response.writeHead(status, headers ?? { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** The body, or as much of it as shows that it is too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes <= hookLimits.bodyBytes + chunk.byteLength) chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function listen(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'another process has it' : cause.message
      reject(new FatalError(`Port ${port} can't be used: ${why}. Name another --port.`, { code: 'usage', cause }))
    })
    server.listen(port, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
}
