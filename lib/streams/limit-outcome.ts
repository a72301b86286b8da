import * as z from 'zod'
import { lazyObject } from '../core/schema.ts'
import { timeText } from '../platform/fields.ts'

/** How an entry can end. `unaccounted`: the platform's answer did not say, so that nobody knows. */
export const outcomeNames = ['applied', 'rejected', 'invalid', 'superseded', 'unaccounted'] as const
export type OutcomeName = (typeof outcomeNames)[number]

/** The ways in which limits are asked for: a file that was dropped, somebody at a command line, a policy. */
export const sourceKinds = ['file', 'cli', 'policy'] as const

/**
 * Who answers for a limit. Every member may be missing: other systems need not say, and requests from before these
 * members existed do not.
 */
const Origin = z.object({
  sourceKind: z.enum(sourceKinds).nullish().describe('How it was asked for: by a file, the CLI or a policy.'),
  planId: z.string().max(64).nullish().describe('The plan that it stood in.'),
  policyVersion: z.string().max(64).nullish().describe('The policy that the plan was made from: a hash of its text.'),
  approvedBy: z.string().max(320).nullish().describe('Who approved the plan, where it had to wait for that.'),
  rule: z.string().max(200).nullish().describe('The rule that decided: "default", "group engineers", "override".'),
  why: z.string().max(500).nullish().describe('Why it was asked for: the reason of an override, the words of a plan.'),
  until: timeText()
    .nullish()
    .describe('A limit made by hand stands against the policy until then; a day counts to its end.'),
})
type Origin = z.infer<typeof Origin>

/** An origin with the members that are known. */
export type LimitOrigin = { [Name in keyof Origin]?: NonNullable<Origin[Name]> | undefined }

/** The members of an origin that stand on a request as a whole, and those of one entry. */
export const RequestOrigin = Origin.pick({ sourceKind: true, planId: true, policyVersion: true, approvedBy: true })
export const EntryOrigin = Origin.pick({ rule: true, why: true, until: true })
export type EntryOrigin = Pick<LimitOrigin, keyof z.infer<typeof EntryOrigin>>

const originNames = Object.keys(Origin.shape) as (keyof Origin)[]

/** The members of an origin that something has, and nothing else of it. */
export function originOf(from: Origin): LimitOrigin {
  return Object.fromEntries(originNames.flatMap((name) => ((from[name] ?? null) === null ? [] : [[name, from[name]]])))
}

/** How one entry of an intent ended. Its times are ISO 8601, UTC. */
export const LimitOutcome = lazyObject(() => ({
  requestId: z.string().describe('The request that the entry came in.'),
  requestedAt: timeText().describe('When it was asked.'),
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
  recordedAt: timeText().describe('When the outcome was recorded.'),
  ...Origin.shape,
}))
export type LimitOutcome = z.infer<typeof LimitOutcome>
