import type { Clock } from '../core/clock.ts'
import { deadlineAfter, noDeadline } from '../core/deadline.ts'
import { FatalError, RetryableError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import { type Log, silentLog } from '../core/log.ts'
import { type Answer, exchange } from './exchange.ts'
import { judge } from './judge.ts'
import { leanFetch } from './lean-fetch.ts'
import type { RateBudget } from './rate-budget.ts'
import { defaultRetry, type RetrySettings, sendRepeatedly } from './retry.ts'
import { excerpt, scrub } from './scrub.ts'
import { errorOfStatus } from './status-errors.ts'
import { listOf } from './told-waits.ts'
import type { ApiRequest, CallOptions, Credentials, Transport } from './transport.ts'

/** What the HTTP layer needs from outside. */
export type HttpDeps = {
  /** Base address of the readiness reports. */
  appUrl: string
  /** Base address of the v0 endpoints. */
  baseUrl: string
  credentials: Credentials
  clock: Clock
  /** A number from 0 up to 1, for the jitter of waits. */
  random: () => number
  log?: Log
  /** The process's own requests over node:http unless given. */
  fetch?: typeof fetch
  /** For one request, its body included; 30 s unless said otherwise. */
  timeoutMs?: number
  retry?: Partial<RetrySettings>
  /** Shared with other clients of the same API key: each request waits for its turn. None unless given. */
  budget?: RateBudget
  /** Takes secrets out of what an error of the platform says; the text as it is unless given. */
  redactText?: (text: string) => string
}

type Secrets = [key: string, ...older: string[]]
type Call = { request: ApiRequest; options: CallOptions; what: string; url: URL; remainingMs: () => number }

const maxRedirects = 3

/** The API over HTTP: addresses, credentials, time limits, redirects, repetition, and the judgement of answers (§4, §5, §7). */
export function createHttpTransport(deps: HttpDeps): Transport {
  const bases = {
    app: baseAddress(deps.appUrl, 'PLATFORM_APP_URL'),
    v0: baseAddress(deps.baseUrl, 'PLATFORM_BASE_URL'),
  }
  const settings = { ...defaultRetry, ...deps.retry }
  const log = deps.log ?? silentLog

  return async (request, options = {}) => {
    const query = new URLSearchParams(request.query).toString()
    const url = new URL(`${bases[request.endpoint.base]}${request.endpoint.path}${query && `?${query}`}`)
    const what = `${request.method} ${request.endpoint.path}`
    const own = deadlineAfter(deps.clock, settings.totalMs)
    const given = options.deadline ?? noDeadline
    const remainingMs = () => Math.min(own.remainingMs(), given.remainingMs())
    return sendRepeatedly(authorized({ request, options, what, url, remainingMs }, deps), {
      clock: deps.clock,
      random: deps.random,
      method: request.method,
      settings,
      signal: options.signal,
      remainingMs,
      patience: options.patience,
      onRetry: ({ code }, attempt, waitMs) =>
        log.info('A request failed and will be repeated.', { request: what, code, attempt, waitMs }),
    })
  }
}

/** One attempt: on 401 the credential is read anew, once per call, and only another one is tried. */
function authorized(call: Call, deps: HttpDeps): () => Promise<Json> {
  let refreshed = false
  return async () => {
    const key = await deps.credentials.current()
    try {
      return await sendInTurn(call, deps, [key])
    } catch (error) {
      if (refreshed || !(error instanceof FatalError) || error.code !== 'unauthorized') throw error
      refreshed = true
      const renewed = await deps.credentials.refresh()
      if (renewed === key) throw error
      return await sendInTurn(call, deps, [renewed, key])
    }
  }
}

/** Statuses of a limit on all that the credential asks for. Others that say when to come back speak of their own request. */
const limitsOfAll: readonly (number | undefined)[] = [429, 503]

/** A wait that this request was told holds for the others, too. */
async function sendInTurn(call: Call, deps: HttpDeps, secrets: Secrets): Promise<Json> {
  const list = listOf(call.request.endpoint.path)
  try {
    const answer = await send(call, deps, secrets)
    deps.budget?.answered(list)
    return answer
  } catch (error) {
    if (error instanceof RetryableError && error.retryAfterMs !== undefined && limitsOfAll.includes(error.status)) {
      await deps.budget?.told(error.retryAfterMs, list)
    }
    throw error
  }
}

async function send(call: Call, deps: HttpDeps, secrets: Secrets): Promise<Json> {
  const { request, options, what, remainingMs } = call
  const init = { method: request.method, headers: headersOf(request, secrets[0]), body: bodyOf(request) }
  let url = call.url
  for (let redirects = 0; ; redirects++) {
    await deps.budget?.admit({ what, remainingMs, signal: options.signal, patience: options.patience })
    const timeoutMs = Math.min(deps.timeoutMs ?? 30_000, remainingMs())
    if (timeoutMs <= 0) throw new RetryableError(`No time is left for ${what}. Try again later.`, { code: 'timeout' })
    options.onRequest?.()
    const answer = await exchange({
      url,
      init,
      fetch: deps.fetch ?? leanFetch,
      signal: options.signal,
      timeoutMs,
      what,
      secrets,
    })
    const target = redirectOf(answer, url)
    if (!target) return judge(answer, { request, what, nowMs: deps.clock.now(), tell: tellerOf(deps, secrets) })
    // The credential must never reach another host, not even one that the platform names.
    if (request.method !== 'GET' || target.origin !== url.origin || redirects === maxRedirects) {
      const why = `a redirect to ${scrub(target.origin, secrets)}, which is not followed`
      throw errorOfStatus(answer.status, { what, said: why, retryAfterMs: undefined })
    }
    url = target
  }
}

function headersOf({ body }: ApiRequest, key: string): Record<string, string> {
  // fetch would quote a header it can't send, key included.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new FatalError(
      'The credential is empty or holds a space, a line break or a character that no header can carry. Store the bare ' +
        'API key where PLATFORM_API_KEY or PLATFORM_SECRET_ID says.',
      { code: 'configuration' },
    )
  }
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  return { accept: 'application/json', authorization: `Bearer ${key}`, ...type }
}

function bodyOf({ body }: ApiRequest): string | null {
  return body === undefined ? null : JSON.stringify(body)
}

function redirectOf({ status, headers }: Answer, from: URL): URL | null {
  if (![301, 302, 303, 307, 308].includes(status)) return null
  const location = headers.get('location')
  return location === null ? null : URL.parse(location, from.href)
}

/** Makes a text that others wrote fit to be shown: redacted, without the credential, short. */
type Tell = (text: string) => string

function tellerOf({ redactText = (text) => text }: HttpDeps, secrets: readonly string[]): Tell {
  return (text) => excerpt(redactText(scrub(text, secrets)), secrets)
}

function baseAddress(address: string, variable: string): string {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new FatalError(
      `${variable} is no usable address: it must be http(s)://host[/path], without user, query or fragment. Set it anew.`,
      { code: 'configuration' },
    )
  }
  // Not its href, which keeps the "?" or "#" of an address that ends with one.
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}
