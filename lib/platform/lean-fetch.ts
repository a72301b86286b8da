import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { release } from '../core/buffer.ts'

/** What is sent: as `fetch` has it, with a body of text or none. */
export type FetchInit = {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly redirect: 'manual'
  readonly signal: AbortSignal
}

/** Headers of an answer, by their names in any case; several of one name as one text. */
export type AnswerHeaders = Pick<Headers, 'get'>

/** What comes back, its body as it arrives, without the encoding it was sent in. */
export type FetchAnswer = {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: AsyncIterable<Uint8Array> | null
  /** The whole body, to be asked for instead; null when it has more bytes than so many. The platform's own `fetch` has no such thing. */
  readonly whole?: (mostBytes: number) => Promise<Buffer | null>
}

/** Sends one request. The platform's own `fetch` is one, too. */
export type Fetch = (url: URL, init: FetchInit) => Promise<FetchAnswer>

/**
 * Sends a request over node:http, by the process's own agents, which also know its proxies. `fetch` passes each body
 * through web streams, which costs as much as all that an unchanged page costs besides.
 */
export const leanFetch: Fetch = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    const request = send(url, { method, headers: { ...ownHeaders, ...headers } })
    // The option of this name watches over both streams of the request for its end, which costs a tenth of the request.
    const abort = () => request.destroy(new Error('the request was aborted'))
    signal.addEventListener('abort', abort)
    let isAnswered = false
    request.on('error', reject)
    request.on('close', () => {
      signal.removeEventListener('abort', abort)
      // A request can end without an answer and without an error: an answer that only switches the protocol does that.
      if (!isAnswered) reject(new Error('the connection ended without an answer'))
    })
    request.on('response', (response) => {
      isAnswered = true
      const answered = headersOf(response)
      const encodings = answered.get('content-encoding')
      const body = encodings === null ? response : decoded(response, encodings)
      resolve({ status: response.statusCode ?? 0, headers: answered, body, whole: (most) => wholeOf(body, most) })
    })
    request.end(body ?? undefined)
  })

// Not deflate: some servers send it without the frame that the standard asks for.
const ownHeaders = { 'accept-encoding': 'br, gzip', 'user-agent': 'node' }

function headersOf({ rawHeaders }: IncomingMessage): AnswerHeaders {
  return {
    get: (name) => {
      const wanted = name.toLowerCase()
      const values = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === wanted)
      return values.length === 0 ? null : values.join(', ')
    },
  }
}

// As lenient as fetch is with the end of a body: whether all came is for the reader of its JSON to say.
// Pieces as large as this have memory of their own, which can be given back; smaller ones share a pool.
const chunkSize = 32 * 1024
const toTheEnd = { chunkSize, flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
const brotliToTheEnd = {
  chunkSize,
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
}
const decoders: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => createGunzip(toTheEnd)],
  ['x-gzip', () => createGunzip(toTheEnd)],
  ['deflate', () => createInflate(toTheEnd)],
  ['br', () => createBrotliDecompress(brotliToTheEnd)],
])

/** Listened to, which costs half of what iterating does. The pieces are nobody else's, and not needed once they are copied. */
function wholeOf(body: Readable, mostBytes: number): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let size = 0
    const settle = (error: Error | null) => {
      try {
        if (size > mostBytes) resolve(null)
        else if (error) reject(error)
        else resolve(Buffer.concat(pieces, size))
      } catch (noMemory) {
        // What a listener throws ends the process.
        reject(noMemory)
      }
      pieces.forEach(release)
    }
    if (body.closed) return settle(body.errored ?? new Error('the body was asked for too late'))
    body.on('data', (piece: Buffer) => {
      pieces.push(piece)
      size += piece.byteLength
      if (size > mostBytes) body.destroy()
    })
    body.on('end', () => settle(null))
    body.on('error', settle)
    body.on('close', () => {
      if (!body.readableEnded) settle(new Error('the body ended too soon'))
    })
  })
}

/** A name for no encoding at all, which some servers write beside others. */
const noEncoding = new Set(['identity', ''])

/** A body without its encodings, the last of which was put on last. One that is not known stays, with those below it. */
function decoded(response: IncomingMessage, encodingsOf: string): Readable {
  const encodings = encodingsOf.split(',').map((each) => each.trim().toLowerCase())
  let body: Readable = response
  for (const encoding of encodings.filter((each) => !noEncoding.has(each)).reverse()) {
    const decoder = decoders.get(encoding)?.()
    if (!decoder) break
    // An error of the one ends the other; whoever reads the last one is told.
    body = pipeline(body, decoder, () => {})
  }
  return body
}
