import type { IncomingMessage } from 'node:http'
import type { MachineConfig } from './place.ts'

/** An answer of the collector. */
export type Answer = { status: number; body: string; retryAfter: string | undefined }

/** Sends a body to the collector within a time. @throws Error when there is no whole answer. */
export type Post = (body: string, timeoutMs: number) => Promise<Answer>

const answerBytes = 256 * 1024

/** Posts to the collector of a configuration. It follows no redirect: the token is for this address alone. */
export function createPost({ address, token }: Pick<MachineConfig, 'address' | 'token'>): Post {
  const url = new URL(`${address.replace(/\/+$/, '')}/v1/hook-events`)
  return async (body, timeoutMs) => {
    // Loaded only here: the process that the agent waits for sends nothing.
    const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      }
      let isAnswered = false
      const call = request(url, { method: 'POST', headers }, (response) => {
        isAnswered = true
        readAnswer(response).then(resolve, reject)
      })
      // Of the whole exchange: a server that sends one byte a second ends, too.
      const timer = setTimeout(() => call.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
      call.on('error', reject)
      call.on('close', () => {
        clearTimeout(timer)
        // A call can end without an answer and without an error: an answer that only switches the protocol does that.
        if (!isAnswered) reject(new Error('the connection ended without an answer'))
      })
      call.end(body)
    })
  }
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > answerBytes) throw new Error('the answer is too long')
    chunks.push(chunk)
  }
  const body = Buffer.concat(chunks).toString('utf8')
  return { status: response.statusCode ?? 0, body, retryAfter: response.headers['retry-after'] }
}
