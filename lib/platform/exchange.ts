import { isUtf8 } from 'node:buffer'
import { FatalError, RetryableError, SyncError } from '../core/errors.ts'
import type { AnswerHeaders, Fetch, FetchAnswer } from './lean-fetch.ts'
import { excerpt, scrub } from './scrub.ts'
import { errorOfStatus, isSuccess } from './status-errors.ts'

/**
 * What came back: the status, the headers, and the body (only its beginning when it is no success), also as text. The bytes
 * are whoever's has the answer.
 */
export type Answer = {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly bytes: Buffer
  readonly text: string
}

/** One HTTP request, and what is needed to bound it and to speak about it. */
export type Exchange = {
  readonly url: URL
  readonly init: { method: string; headers: Record<string, string>; body: string | null }
  readonly fetch: Fetch
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
  /** The request in messages: "GET /api/v0/sessions". */
  readonly what: string
  readonly secrets: readonly string[]
}

/** The largest body that is read: far above any page, far below what a Lambda function holds. */
const maxBodyBytes = 64 * 1024 * 1024
/** What is read of a body that is no success; its excerpt is a fraction of it. */
const maxErrorBytes = 16 * 1024

/**
 * Sends one request and reads its body, both within one timeout. Redirects are answers here, not followed.
 * @throws RetryableError when the network fails or time runs out, the caller's abort reason, FatalError for a giant body.
 */
export async function exchange(request: Exchange): Promise<Answer> {
  const { url, init, signal, timeoutMs } = request
  signal?.throwIfAborted()
  // Not AbortSignal.timeout, whose timer would outlive each quick answer by the whole timeout, nor AbortSignal.any, which
  // leaves weak references to each.
  const stop = new AbortController()
  const abort = () => stop.abort()
  const timer = setTimeout(abort, timeoutMs)
  signal?.addEventListener('abort', abort)
  let status: number | undefined
  try {
    const response = await request.fetch(url, { ...init, redirect: 'manual', signal: stop.signal })
    status = response.status
    return answerOf(response, await bodyOf(response, request))
  } catch (error) {
    signal?.throwIfAborted()
    if (stop.signal.aborted) throw timedOut(request)
    throw status === undefined ? networkError(error, request) : brokenBody(error, request, status)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

function answerOf({ status, headers }: FetchAnswer, bytes: Buffer): Answer {
  return {
    status,
    headers,
    bytes,
    get text() {
      return new TextDecoder().decode(bytes)
    },
  }
}

async function bodyOf(response: FetchAnswer, { what, signal }: Exchange): Promise<Buffer> {
  const { status, whole = (most) => collected(response, most) } = response
  if (!isSuccess(status)) return await beginningOf(response, signal)
  const bytes = await whole(maxBodyBytes)
  if (bytes === null) {
    throw new FatalError(`${what} was answered with more than ${maxBodyBytes / 2 ** 20} MB; the rest was not read.`, {
      code: 'too_large',
      status,
    })
  }
  // Decoding would put replacement characters where the data was.
  if (!isUtf8(bytes)) {
    throw new RetryableError(`${what} was answered with bytes that are no UTF-8 text. Try again later.`, {
      code: 'unexpected_body',
      status,
    })
  }
  return bytes
}

async function collected({ body }: FetchAnswer, mostBytes: number): Promise<Buffer | null> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body ?? []) {
    pieces.push(piece)
    size += piece.byteLength
    if (size > mostBytes) return null
  }
  return Buffer.concat(pieces)
}

/**
 * As much of a body that is no success as came. Its status and its headers say what to do, also where it stalls, breaks
 * off or is not encoded as it says: what stands in front of servers answers like that when it refuses.
 */
async function beginningOf({ body }: FetchAnswer, signal: AbortSignal | undefined): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of body ?? []) {
      chunks.push(chunk)
      size += chunk.byteLength
      if (size > maxErrorBytes) break
    }
  } catch {
    signal?.throwIfAborted()
  }
  return Buffer.concat(chunks)
}

function timedOut({ what, timeoutMs }: Exchange) {
  return new RetryableError(`${what} was not answered completely within ${timeoutMs} ms. Try again later.`, {
    code: 'timeout',
  })
}

/** What fetch and node:http say of a proxy that refuses. */
const refusalOfProxy = /^proxy response \((\d{3})\)|^failed to establish tunnel .* via .*: HTTP\/1\.[01] (\d{3})/is

/** What is said of a certificate by an authority that this machine does not know. */
const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** What fetch throws for the network: TypeErrors with these messages, errors of other kinds, and things that are none. */
const networkMessages = new Set(['fetch failed', 'terminated'])

function isBug(error: unknown): boolean {
  return (
    (error instanceof TypeError && !networkMessages.has(error.message)) ||
    error instanceof ReferenceError ||
    error instanceof RangeError ||
    error instanceof SyntaxError
  )
}

function networkError(error: unknown, { what, url, secrets }: Exchange): unknown {
  if (error instanceof SyncError || isBug(error)) return error
  const cause = plainCause(error, secrets)
  const refusal = refusalOfProxy.exec(cause.message)?.slice(1).find(Boolean)
  if (refusal === '407') return errorOfStatus(407, { what, said: '', retryAfterMs: undefined })
  const proxied = refusal !== undefined || wentElsewhere(cause, url)
  const whom = proxied ? 'the proxy on the way to the platform' : scrub(url.origin, secrets)
  return new RetryableError(
    `${what} got no answer from ${whom} (${cause.message}). Try again later; if it stays so, ${remedyOf(cause, proxied)}`,
    { code: 'unreachable', cause },
  )
}

/** The platform, or what stands before it, was reached: another network or proxy would not help. */
function brokenBody(error: unknown, { what, secrets }: Exchange, status: number): unknown {
  if (error instanceof SyncError || isBug(error)) return error
  const cause = plainCause(error, secrets)
  return new RetryableError(
    `${what} was answered with status ${status}, but the body broke off or is not encoded as it says (${cause.message}). ` +
      'Try again later; if it stays so, report it to the platform.',
    { code: 'unexpected_body', status, cause },
  )
}

function remedyOf({ code = '' }: Failed, proxied: boolean): string {
  if (untrusted.has(code)) {
    return 'set NODE_EXTRA_CA_CERTS to a file with the certificate of the authority that signed this one: a network that reads what passes has its own.'
  }
  return proxied
    ? 'check HTTPS_PROXY and HTTP_PROXY, or name the platform in NO_PROXY.'
    : 'check the platform address, the network and HTTPS_PROXY with "platform-sync doctor".'
}

/** What the system says of a connection that failed. */
type Failed = Error & { code?: string; port?: unknown; hostname?: unknown }

/** A connection that was tried to another port or host than the platform's was one to a proxy. */
function wentElsewhere({ port, hostname }: Failed, url: URL): boolean {
  const ownPort = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const ownHost = url.hostname.replace(/^\[|\]$/g, '')
  return (typeof port === 'number' && port !== ownPort) || (typeof hostname === 'string' && hostname !== ownHost)
}

/** The innermost error without what hangs on it (sockets, requests, headers), its message scrubbed. */
function plainCause(error: unknown, secrets: readonly string[]): Failed {
  let inner = error
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause
  const { message, code, port, hostname } =
    inner instanceof Error ? (inner as Failed) : { message: String(inner), code: '', port: null, hostname: null }
  const text = excerpt(message || code || 'no reason given', secrets)
  return Object.assign(new Error(text), { port, hostname }, typeof code === 'string' && code !== '' ? { code } : {})
}
