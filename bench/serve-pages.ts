import { openSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { bodyAt, type PagesFile, placeOf, writePages } from './pages.ts'
import { answering } from './processes.ts'

/** A platform of prerendered pages: so many sessions, in two states that differ in a share of them. */
export type Platform = { dir: string; sessions: number; isGzip: boolean; latencyMs: number; changedShare: number }

/** Its address in the first and in the second state. */
export type PlatformAddresses = [string, string]

type State = PagesFile & { descriptor: number }

/** The platform in a process of its own, which does no more per request than to read a page and to send it. */
answering(async ({ dir, latencyMs, ...wanted }: Platform): Promise<PlatformAddresses> => {
  const states: State[] = []
  for (const state of [0, 1]) {
    const pages = await writePages(join(dir, `pages-${wanted.sessions}-${state}`), { ...wanted, state })
    states.push({ ...pages, descriptor: openSync(pages.file, 'r') })
  }
  const headers = { 'content-type': 'application/json', ...(wanted.isGzip ? { 'content-encoding': 'gzip' } : {}) }
  const server = createServer((request, response) => {
    const url = request.url ?? ''
    const state = states[url.startsWith('/1/') ? 1 : 0] as State
    const body = bodyAt(state.descriptor, placeOf(state, Number(/[?&]cursor=(\d+)/.exec(url)?.[1] ?? 0)))
    const send = () => sendBody(response, body, headers)
    if (latencyMs === 0) send()
    else setTimeout(send, latencyMs)
  })
  server.keepAliveTimeout = 120_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return [`${address}/0`, `${address}/1`]
})

function sendBody(response: ServerResponse, body: Buffer, headers: Record<string, string>): void {
  response.writeHead(200, { ...headers, 'content-length': body.byteLength }).end(body)
}
