import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HookDelivery, type HookEvent, type HookReceipt } from '../../../lib/hooks/hook-event.ts'

/** The token that the collector of the tests takes. */
export const token = 'token-of-the-tests-0123456789'

/** What the collector answers instead of a receipt for all. `null` answers nothing. */
type Answer = { status: number; headers?: Record<string, string>; body?: string } | null | undefined
type Answering = (events: HookEvent[]) => Answer | Promise<Answer>

/** A collector that keeps its side of the contract, and notes what came. Its answers can be replaced by others. */
export async function startCollector(port = 0) {
  const bodies: HookEvent[][] = []
  const accepted: HookEvent[] = []
  const collector = { answer: (() => undefined) as Answering, bodies, accepted }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { events } = HookDelivery.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')))
    bodies.push(events)
    const isKnown = request.headers.authorization === `Bearer ${token}` && request.url === '/v1/hook-events'
    const answer = isKnown ? await collector.answer(events) : { status: 401 }
    if (answer === null) return
    if (answer === undefined) accepted.push(...events)
    const { status, headers, body } = answer ?? { status: 202, body: receipt(events) }
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { port: taken } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return Object.assign(collector, { address: `http://127.0.0.1:${taken}`, port: taken, close })
}
export type Collector = Awaited<ReturnType<typeof startCollector>>

/** A receipt that takes some events and refuses others. */
export function receipt(taken: readonly HookEvent[], refused: HookReceipt['refused'] = []): string {
  return JSON.stringify({ accepted: taken.map(({ id }) => id), refused } satisfies HookReceipt)
}
