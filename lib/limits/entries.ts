import { isPlainObject } from '../core/canonical-json.ts'
import { type EntryOrigin, type LimitOrigin, originOf } from '../streams/limit-outcome.ts'
import { identityOf, readEmail } from './email.ts'
import { type Intent, orderOf } from './intent.ts'
import { faultOfUntil } from './until.ts'

/** Bounds that the platform does not publish (§8), so that the operator sets them. */
export type LimitRules = {
  /** The largest limit that may be set. */
  readonly maxLimit: number
  /** The most changes that one file or plan may make. */
  readonly maxChanges: number
}

/** The rules unless the operator sets others: a limit is what a double holds exactly, and 10,000 may change at once. */
export const defaultRules: LimitRules = { maxLimit: Number.MAX_SAFE_INTEGER, maxChanges: 10_000 }

/** A request for limits: who asked when, and where. It is the same for all entries of an intent. */
export type LimitRequest = Pick<Intent, 'requestId' | 'requestedAt' | 'requestedBy' | 'source'> &
  Omit<LimitOrigin, keyof EntryOrigin>

/** One entry of an intent. It ends in exactly one outcome. */
export type LimitEntry = {
  request: LimitRequest
  /** Sorts intents (see `orderOf`). */
  order: string
  /** Position in the intent, from 0. */
  index: number
  identity: string
  address: string
  origin?: EntryOrigin
} & ({ limit: number } | { limit: null; invalid: string })

/** An entry that can be sent. */
export type ValidLimitEntry = Extract<LimitEntry, { limit: number }>

/** Lead that a producer's clock may have; with more, its intents would outrank all others for as long. */
const maxAheadMs = 15 * 60_000

/**
 * The entries of an intent, each judged alone. An address with two different limits in one intent has no newest one, so
 * all of them are invalid; an entry that only repeats another is kept, and superseded when it is applied.
 */
export function entriesOf(intent: Intent, { rules, now }: { rules: LimitRules; now: number }): LimitEntry[] {
  const { requestId, requestedAt, requestedBy, source } = intent
  const names = { requestId, requestedAt, requestedBy: requestedBy.toWellFormed(), source: source.toWellFormed() }
  const request = { ...names, ...originOf(intent) }
  const early = Date.parse(requestedAt) > now + maxAheadMs ? 'requestedAt lies in the future' : null
  const entries = intent.limits.map((raw, index) => {
    const { identity, address, limit, reason, origin } = judge(raw, rules)
    const entry = { request, order: orderOf(intent), index, identity, address, ...(origin ? { origin } : {}) }
    const invalid = early ?? reason
    return invalid === null ? { ...entry, limit: limit as number } : { ...entry, limit: null, invalid }
  })
  return withoutConflicts(entries)
}

/** Tells whether an entry can be sent. */
export function isValid(entry: LimitEntry): entry is ValidLimitEntry {
  return entry.limit !== null
}

/** Addresses with different limits among the entries, by identity. */
export function conflictingIdentities(entries: readonly { identity: string; limit: number | null }[]): Set<string> {
  const first = new Map<string, number>()
  const conflicting = new Set<string>()
  for (const { identity, limit } of entries) {
    if (limit === null) continue
    if ((first.get(identity) ?? limit) !== limit) conflicting.add(identity)
    first.set(identity, limit)
  }
  return conflicting
}

/** The reason why a value is no limit, or null when it is one. Zero is a limit; null, an empty text and a missing value are not. */
export function faultOfLimit(value: unknown, { maxLimit }: Pick<LimitRules, 'maxLimit'>): string | null {
  if (value === null || value === undefined || value === '') return 'the limit is missing'
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || Object.is(value, -0)) {
    return 'the limit is not an integer from 0 up to 2^53 - 1'
  }
  return value > maxLimit ? `the limit is above ${maxLimit}, the largest that is allowed` : null
}

/** The beginning of a text from elsewhere, at most `length` UTF-16 units: one line, and nothing that a terminal would obey. */
export function excerpt(text: string, length: number): string {
  return text
    .slice(0, length)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')
    .trim()
}

function withoutConflicts(entries: LimitEntry[]): LimitEntry[] {
  const conflicting = conflictingIdentities(entries)
  if (conflicting.size === 0) return entries
  const invalid = 'the address stands in the request with different limits'
  return entries.map((entry) =>
    isValid(entry) && conflicting.has(entry.identity) ? { ...entry, limit: null, invalid } : entry,
  )
}

function judge(raw: unknown, rules: LimitRules) {
  const { email, limit, rule, why, until } = (isPlainObject(raw) ? raw : {}) as Record<string, unknown>
  const read = readEmail(email)
  const fault = faultOfLimit(limit, rules) ?? faultOfUntil(until)
  const origin = entryOriginOf({ rule, why, until })
  if ('reason' in read) return { ...rawAddress(email), limit, origin, reason: read.reason }
  return { ...read, limit, origin, reason: fault }
}

/** What an entry says of its origin. Words that are no text are passed over: they decide nothing. */
function entryOriginOf({ rule, why, until }: Record<keyof EntryOrigin, unknown>): EntryOrigin | undefined {
  const origin = {
    ...(typeof rule === 'string' ? { rule: excerpt(rule, 200) } : {}),
    ...(typeof why === 'string' ? { why: excerpt(why, 500) } : {}),
    ...(typeof until === 'string' ? { until: excerpt(until, 40) } : {}),
  }
  return Object.keys(origin).length > 0 ? origin : undefined
}

/** Names the outcome of an invalid address, too, shortened to what a key may hold. */
function rawAddress(email: unknown) {
  const address = typeof email === 'string' ? shortened(email) : ''
  return { address, identity: shortened(identityOf(address)) }
}

/** Cuts a text and makes it well-formed after the cut, which may go through a character: a key can't hold half of one. */
function shortened(text: string): string {
  return text.slice(0, 300).toWellFormed()
}
