import * as z from 'zod'
import { timeText } from '../platform/fields.ts'

/** How an entry can end. `unaccounted`: the platform's answer did not say, so that nobody knows. */
export const outcomeNames = ['applied', 'rejected', 'invalid', 'superseded', 'unaccounted'] as const
export type OutcomeName = (typeof outcomeNames)[number]

/** How one entry of an intent ended. Its times are ISO 8601, UTC. */
export const LimitOutcome = z.object({
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
})
export type LimitOutcome = z.infer<typeof LimitOutcome>
