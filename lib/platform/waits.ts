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
    longest(valuesOf(headers, 'retry-after-ms', 'x-ms-retry-after-ms').map(millisecondsOf)),
    longest(valuesOf(headers, 'retry-after').map((value) => momentOf(value, nowMs))),
    usedUp(headers.get('ratelimit') ?? ''),
    ...(speaksOfLimit(status, headers) ? resetHeaders.map((name) => shortest(valuesOf(headers, name), nowMs)) : []),
    waitInBody(body, nowMs),
  ]
  const waitMs = asked.find((ms) => ms !== undefined && ms > 0)
  return waitMs === undefined ? undefined : Math.min(waitMs, longestWaitMs)
}

// A header that came several times, as from a server and from what stands before it, is one text with commas. So is a date.
const betweenValues = /(?<!\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*),/i

/** The values of the first of these headers that there is, without what may follow them after a semicolon. */
function valuesOf(headers: AnswerHeaders, ...names: string[]): string[] {
  const text = names.map((name) => headers.get(name)).find((value) => value !== null) ?? ''
  return text.split(betweenValues).map((value) => value.replace(/;.*/, '').trim())
}

function longest(waits: readonly (number | undefined)[]): number | undefined {
  const known = waits.filter((ms) => ms !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}

/** Of several limits nobody says which is used up: what waited too short is told again. */
function shortest(values: readonly string[], nowMs: number): number | undefined {
  const known = values.map((value) => momentOf(value, nowMs)).filter((ms) => ms !== undefined && ms > 0)
  return known.length === 0 ? undefined : Math.min(...(known as number[]))
}

/**
 * `RateLimit`: limits with what remains of each and the seconds until it begins anew, as `"day";r=0;t=30` or
 * `limit=9, remaining=0, reset=30`.
 */
function usedUp(text: string): number | undefined {
  const limits = text.split(/,\s*(?=")/).filter((limit) => /\b(?:r|remaining)=0\b/.test(limit))
  return longest(limits.map((limit) => secondsOf(/\b(?:t|reset)=(\d{1,9})\b/.exec(limit)?.[1])))
}

function secondsOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text) * 1000
}

/** When a limit begins anew: seconds from now, or a moment in Unix seconds, Unix milliseconds or as a date. */
const resetHeaders = ['x-ratelimit-reset-after', 'ratelimit-reset', 'x-ratelimit-reset', 'x-rate-limit-reset']
const remainingHeaders = ['ratelimit-remaining', 'x-ratelimit-remaining', 'x-rate-limit-remaining']

/** Those headers stand on every answer of some servers: they mean a wait only when the limit is used up. */
function speaksOfLimit(status: number, headers: AnswerHeaders): boolean {
  const remaining = valuesOf(headers, ...remainingHeaders).filter((value) => decimal.test(value))
  return remaining.length === 0 ? status === 429 : remaining.some((value) => Number(value) === 0)
}

const decimal = /^\d{1,16}(\.\d{1,9})?$/

function millisecondsOf(text: string): number | undefined {
  return decimal.test(text.trim()) ? Math.ceil(Number(text)) : undefined
}

/** From here on a number is a moment in Unix seconds (2001), ms (1973), or microseconds (1973): no wait is so long. */
const unixSecondsFrom = 1e9
const unixMsFrom = 1e11
const unixMicrosFrom = 1e14

function momentOf(text: string, nowMs: number): number | undefined {
  const value = text.trim()
  if (!decimal.test(value)) return durationOf(value) ?? untilDate(value, nowMs)
  const number = Number(value)
  if (number >= unixMicrosFrom) return Math.ceil(number / 1000 - nowMs)
  if (number >= unixMsFrom) return Math.ceil(number - nowMs)
  return Math.ceil(number >= unixSecondsFrom ? number * 1000 - nowMs : number * 1000)
}

const duration = /^(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,7}(?:\.\d{1,9})?)s)?$/

/** As some servers print it: 30s, 1m30s. */
function durationOf(text: string): number | undefined {
  const [, hours = '0', minutes = '0', seconds = '0'] = (text !== '' && duration.exec(text)) || []
  const ms = Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000
  return ms > 0 ? Math.ceil(ms) : undefined
}

// The three forms of HTTP-date, the third of which has no zone and means UTC, the first with the zone of mails, and
// RFC 3339. Date.parse alone reads "1.5" and "-3" as years.
const httpDate = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*, .* (?:gmt|utc|[+-]\d{4})$/i
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
