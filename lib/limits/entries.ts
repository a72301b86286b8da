import { isPlainObject } from '../core/canonical-json.ts'
import { identityOf, readEmail } from './email.ts'
import { type Intent, orderOf } from './intent.ts'
import { faultOfLimit, type LimitRules } from './rules.ts'

/** Who asked for what, when; the same for all entries of an intent. */
export type Request = Pick<Intent, 'requestId' | 'requestedAt' | 'requestedBy' | 'source'>

/** One entry of an intent. It ends in exactly one outcome. */
export type Entry = {
  request: Request
  /** Sorts intents (see `orderOf`). */
  order: string
  /** Position in the intent, from 0. */
  index: number
  identity: string
  address: string
} & ({ limit: number } | { limit: null; invalid: string })

/** An entry that can be sent. */
export type ValidEntry = Extract<Entry, { limit: number }>

/** A clock of a producer may run ahead by this much; beyond it, its intents would outrank all others for as long. */
const maxAheadMs = 15 * 60_000

/**
 * The entries of an intent, each judged alone. An address with two different limits in one intent has no newest one, so
 * all of them are invalid; an entry that only repeats another is kept, and superseded when it is applied.
 */
export function entriesOf(intent: Intent, { rules, now }: { rules: LimitRules; now: number }): Entry[] {
  const { requestId, requestedAt, requestedBy, source } = intent
  const request = { requestId, requestedAt, requestedBy: requestedBy.toWellFormed(), source: source.toWellFormed() }
  const early = Date.parse(requestedAt) > now + maxAheadMs ? 'requestedAt lies in the future' : null
  const entries = intent.limits.map((raw, index) => {
    const { identity, address, limit, reason } = judge(raw, rules)
    const entry = { request, order: orderOf(intent), index, identity, address }
    const invalid = early ?? reason
    return invalid === null ? { ...entry, limit: limit as number } : { ...entry, limit: null, invalid }
  })
  return withoutConflicts(entries)
}

/** Whether an entry can be sent. */
export function isValid(entry: Entry): entry is ValidEntry {
  return entry.limit !== null
}

/** Addresses that stand there with different limits, by identity. */
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

function withoutConflicts(entries: Entry[]): Entry[] {
  const conflicting = conflictingIdentities(entries)
  if (conflicting.size === 0) return entries
  const invalid = 'the address stands in the request with different limits'
  return entries.map((entry) =>
    isValid(entry) && conflicting.has(entry.identity) ? { ...entry, limit: null, invalid } : entry,
  )
}

function judge(raw: unknown, rules: LimitRules) {
  const { email, limit } = isPlainObject(raw) ? raw : { email: undefined, limit: undefined }
  const read = readEmail(email)
  const fault = faultOfLimit(limit, rules)
  if ('reason' in read) return { ...rawAddress(email), limit, reason: read.reason }
  return { ...read, limit, reason: fault }
}

/** An invalid address names its outcome, too, shortened to what a key may hold. */
function rawAddress(email: unknown) {
  const address = typeof email === 'string' ? shortened(email) : ''
  return { address, identity: shortened(identityOf(address)) }
}

/** Made well-formed after the cut, which may go through a character: half of one is no text that a key can hold. */
function shortened(text: string): string {
  return text.slice(0, 300).toWellFormed()
}
