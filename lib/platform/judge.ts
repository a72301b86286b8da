import { release } from '../core/buffer.ts'
import { isPlainObject } from '../core/canonical-json.ts'
import { RetryableError } from '../core/errors.ts'
import { type Json, parseJson } from '../core/json.ts'
import { jsonFaultOf } from '../core/json-fault.ts'
import type { Answer } from './exchange.ts'
import { messagesIn } from './said.ts'
import { errorOfStatus, isSuccess } from './status-errors.ts'
import type { ApiRequest } from './transport.ts'
import { waitAskedBy } from './waits.ts'

/** What an answer is judged by. `tell` makes a text that others wrote fit to be shown. */
type Judging = { request: ApiRequest; what: string; nowMs: number; tell: (text: string) => string }

/**
 * What a success says. One that isn't JSON, or that only says "error", comes from something in front of the platform: it
 * passes (§7). The bytes of the answer are gone then, unless the request keeps them.
 * @throws the error of its status for an answer that is none, RetryableError for a success without data or without all of it.
 */
export function judge(answer: Answer, { request, what, nowMs, tell }: Judging): Json {
  const { status, headers, bytes } = answer
  const cut = isSuccess(status) ? request.read?.(bytes) : undefined
  const body = cut ?? jsonOf(answer.text)
  const said = () => tell(messagesIn(body))
  if (!isSuccess(status)) {
    const retryAfterMs = waitAskedBy({ status, headers, body }, nowMs)
    throw errorOfStatus(status, { what, said: said() || (answer.text === '' ? '' : lookOf(answer)), retryAfterMs })
  }
  if (body === undefined) throw noData(what, status, `${lookOf(answer)}, ${placeOfFault(answer.text)}`)
  if (isErrorBody(body)) throw noData(what, status, said() || lookOf(answer))
  const gaps = request.shortfall?.(body) ?? null
  if (gaps !== null) throw partialAnswer(what, status, [tell(gaps), said()].filter(Boolean).join(': '))
  // The records of a body that was cut still stand in its bytes.
  if (cut === undefined) release(bytes)
  return body
}

/** The outside of a body: what is inside was to be data, and is not shown. */
function lookOf({ headers, text }: Answer): string {
  const [type] = /^[\w.+-]+\/[\w.+-]+/.exec(headers.get('content-type') ?? '') ?? []
  return text === '' ? 'an empty body' : `${type ?? 'a body without content type'}, ${text.length} characters`
}

function placeOfFault(text: string): string {
  const fault = jsonFaultOf(text)
  return fault ? `no valid JSON at character ${fault.at}, where ${fault.found} stands` : 'no JSON that can be read'
}

function noData(what: string, status: number, why: string) {
  return new RetryableError(
    `${what} was answered with status ${status}, but not with data: ${why}. Try again later; if it stays so, check the ` +
      'platform address with "platform-sync doctor".',
    { code: 'unexpected_body', status },
  )
}

function partialAnswer(what: string, status: number, gaps: string) {
  return new RetryableError(
    `${what} was answered with status ${status} and a list that says itself it is not whole: ${gaps}. Nothing is deleted ` +
      'because of it. Try again later; if it stays so, report it to the platform.',
    { code: 'partial_answer', status },
  )
}

function jsonOf(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

// Error bodies are "not shown" (§7). A resource may one day have a field named error: with other fields beside it, it is data.
const besideError = new Set([
  'error',
  'errors',
  'message',
  'code',
  'status',
  'statusCode',
  'detail',
  'details',
  'requestId',
])
function isErrorBody(body: Json): boolean {
  return isPlainObject(body) && (body.error ?? null) !== null && Object.keys(body).every((key) => besideError.has(key))
}
