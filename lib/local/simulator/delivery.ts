import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, bytesOf } from './answer.ts'
import type { Strike } from './faults/book.ts'

/** How long a request's answer is held back, in milliseconds. */
export function latencyOf(strikes: readonly Strike[], latencyMs: number): number {
  return strikes.reduce((sum, { rule }) => sum + (rule.kind === 'latency' ? rule.ms : 0), latencyMs)
}

/** Sends an answer over the wire, whole or broken as the faults say. */
export async function deliver(response: ServerResponse, answer: Answer, strikes: readonly Strike[]): Promise<void> {
  const bytes = bytesOf(answer)
  const { socket } = response
  for (const { rule } of strikes) {
    if (rule.kind === 'reset') return void socket?.resetAndDestroy()
    if (rule.kind === 'stall') return begin(response, answer, bytes.subarray(0, rule.bytes))
    if (rule.kind === 'cut') {
      await flushed(response, answer, bytes.subarray(0, rule.bytes ?? bytes.length >> 1))
      return void socket?.destroy()
    }
    if (rule.kind === 'trickle') return trickle(response, answer, rule)
  }
  response.writeHead(answer.status, headersOf(answer, bytes))
  response.end(bytes)
}

function headersOf(answer: Answer, bytes: Buffer): Record<string, string | string[]> {
  return {
    ...(answer.status === 204 ? {} : { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
    ...answer.headers,
  }
}

/** The headers of the whole body, and only the first of its bytes. */
function begin(response: ServerResponse, answer: Answer, first: Buffer): void {
  response.writeHead(answer.status, headersOf(answer, bytesOf(answer)))
  response.flushHeaders()
  if (first.length > 0) response.write(first)
}

async function flushed(response: ServerResponse, answer: Answer, first: Buffer): Promise<void> {
  begin(response, answer, first)
  await wait(5)
}

async function trickle(
  response: ServerResponse,
  answer: Answer,
  { bytesPerChunk, everyMs }: { bytesPerChunk: number; everyMs: number },
): Promise<void> {
  const bytes = bytesOf(answer)
  begin(response, answer, bytes.subarray(0, 0))
  for (let at = 0; at < bytes.length && !response.destroyed; at += bytesPerChunk) {
    response.write(bytes.subarray(at, at + bytesPerChunk))
    await wait(everyMs, undefined, { ref: false })
  }
  response.end()
}
