import * as z from 'zod'
import { sha256 } from '../../core/hash.ts'
import { excerpt, type LimitEntry } from '../entries.ts'

/** The ways in which an entry can end. `unaccounted`: the platform's answer did not say, so that nobody knows. */
export const outcomeNames = ['applied', 'rejected', 'invalid', 'superseded', 'unaccounted'] as const
export type OutcomeName = (typeof outcomeNames)[number]

/** Tells whether somebody should look at an outcome. */
export function isFailure(outcome: OutcomeName): boolean {
  return outcome !== 'applied' && outcome !== 'superseded'
}

/** The end of one entry of an intent. */
export const LimitOutcome = z.object({
  requestId: z.string().describe('The request that the entry came in.'),
  requestedAt: z.string().describe('When it was asked, ISO 8601 UTC.'),
  requestedBy: z.string().describe('Who asked.'),
  source: z.string().describe('Where it was asked: a file, the CLI, a system.'),
  index: z.int().describe('Position of the entry in the request, from 0.'),
  identity: z.string().describe('The address as it tells people apart: trimmed, NFC, lower case.'),
  address: z.string().describe('The address as it was written.'),
  limit: z.int().nullable().describe('The limit that was asked for; null when the entry is invalid.'),
  previousLimit: z.int().nullable().describe('The limit before, as far as the ledger knew it for certain.'),
  outcome: z.enum(outcomeNames).describe('How it ended: applied, rejected, invalid, superseded or unaccounted.'),
  reason: z.string().nullable().describe("Why it was not applied: the platform's words, or ours."),
  apiCall: z.string().nullable().describe('The API call it went in; the entries of one PUT share it.'),
  recordedAt: z.string().describe('When the outcome was recorded, ISO 8601 UTC.'),
})
export type LimitOutcome = z.infer<typeof LimitOutcome>

/** The name of an outcome: the same entry always has the same one. */
export type OutcomeKey = { identity: string; name: string }

type KeyFields = Pick<LimitOutcome, 'requestId' | 'requestedAt' | 'index' | 'identity' | 'address' | 'limit'>

/**
 * The key of an entry's outcome. It holds what the entry says, too, so that a producer who uses a request id twice loses
 * no outcome.
 */
export function outcomeKey({ requestId, requestedAt, index, identity, address, limit }: KeyFields): OutcomeKey {
  return {
    identity,
    name: `${requestedAt}#${requestId}#${String(index).padStart(3, '0')}#${sha256(`${limit} ${address}`).slice(0, 8)}`,
  }
}

/** The key as one text. */
export function keyText({ identity, name }: OutcomeKey): string {
  return `${identity} ${name}`
}

/** The key of the outcome that an entry has or will have. */
export function keyOfEntry({ request, index, identity, address, limit }: LimitEntry): OutcomeKey {
  return outcomeKey({ ...request, index, identity, address, limit })
}

/** The most that is kept of the platform's words: an item of the ledger, a row of the lake and a terminal must hold them. */
const maxReason = 1_000

/** The outcome of an entry. */
export function outcomeOf(
  { request, index, identity, address, limit }: LimitEntry,
  end: Pick<LimitOutcome, 'outcome' | 'reason'> & Partial<Pick<LimitOutcome, 'apiCall' | 'previousLimit'>>,
  recordedAt: number,
): LimitOutcome {
  return {
    ...request,
    index,
    identity,
    address,
    limit,
    previousLimit: end.previousLimit ?? null,
    outcome: end.outcome,
    reason: end.reason === null ? null : excerpt(end.reason, maxReason),
    apiCall: end.apiCall ?? null,
    recordedAt: new Date(recordedAt).toISOString(),
  }
}
