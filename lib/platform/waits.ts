import { isPlainObject } from '../core/canonical-json.ts'
import type { Json } from '../core/json.ts'
import type { AnswerHeaders } from './lean-fetch.ts'

/** What an answer may say about when to come back. */
type Saying = { readonly status: number; readonly headers: AnswerHeaders; readonly body: Json | undefined }

/** A wait beyond this is no wait that anybody means: it is cut to this. */
const longestWaitMs = 31 * 86_400_000

/**
 * The wait that an answer asks for, in milliseconds: what servers write into headers, or into the body. Undefined when
 * it asks for none, or for one that has passed, so that the normal backoff applies.
 */
export function waitAskedBy({ status, headers, body }: Saying, nowMs: number): number | undefined {
  const asked = [
    millisecondsOf(headers.get('retry-after-ms') ?? headers.get('x-ms-retry-after-ms')),
    momentOf(headers.get('retry-after'), nowMs),
    ...(speaksOfLimit(status, headers) ? resetHeaders.map((name) => momentOf(headers.get(name), nowMs)) : []),
    waitInBody(body, nowMs),
  ]
  const waitMs = asked.find((ms) => ms !== undefined && ms > 0)
  return waitMs === undefined ? undefined : Math.min(waitMs, longestWaitMs)
}

/** When a limit begins anew: seconds from now, or a moment in Unix seconds, Unix milliseconds or as a date. */
const resetHeaders = ['x-ratelimit-reset-after', 'ratelimit-reset', 'x-ratelimit-reset', 'x-rate-limit-reset']
const remainingHeaders = ['ratelimit-remaining', 'x-ratelimit-remaining', 'x-rate-limit-remaining']

/** Those headers stand on every answer of some servers: they mean a wait only when the limit is used up. */
function speaksOfLimit(status: number, headers: AnswerHeaders): boolean {
  const remaining = remainingHeaders.map((name) => headers.get(name)).find((value) => value !== null)
  return remaining === undefined ? status === 429 : Number(remaining) === 0
}

const decimal = /^\d{1,16}(\.\d{1,9})?$/

function millisecondsOf(text: string | null): number | undefined {
  return text !== null && decimal.test(text.trim()) ? Math.ceil(Number(text)) : undefined
}

/** From here on a number is a moment in Unix seconds (2001), or in Unix milliseconds (1973): no wait is so long. */
const unixSecondsFrom = 1e9
const unixMsFrom = 1e11

function momentOf(text: string | null, nowMs: number): number | undefined {
  const value = text?.trim() ?? ''
  if (!decimal.test(value)) return untilDate(value, nowMs)
  const number = Number(value)
  if (number >= unixMsFrom) return Math.ceil(number - nowMs)
  return Math.ceil(number >= unixSecondsFrom ? number * 1000 - nowMs : number * 1000)
}

// The three forms of HTTP-date, the third of which has no zone and means UTC, and RFC 3339. Date.parse alone reads
// "1.5" and "-3" as years.
const httpDate = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*, .* gmt$/i
const ansiDate = /^(?:mon|tue|wed|thu|fri|sat|sun) [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i
const isoDate = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i

function untilDate(text: string, nowMs: number): number | undefined {
  const date = ansiDate.test(text) ? `${text} GMT` : text
  const ms = ansiDate.test(text) || httpDate.test(text) || isoDate.test(text) ? Date.parse(date) - nowMs : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

/** `retry_after` and its kin, at the top or beside an error's message. */
function waitInBody(body: Json | undefined, nowMs: number): number | undefined {
  if (!isPlainObject(body)) return undefined
  for (const place of [body, body.error]) {
    if (!isPlainObject(place)) continue
    for (const [key, value] of Object.entries(place)) {
      if (typeof value !== 'number' && typeof value !== 'string') continue
      const name = key.toLowerCase().replaceAll(/[_-]/g, '')
      if (name === 'retryafterms') return millisecondsOf(`${value}`)
      if (name === 'retryafter' || name === 'retryafterseconds') return momentOf(`${value}`, nowMs)
    }
  }
  return undefined
}
