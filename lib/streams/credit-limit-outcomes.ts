import * as z from 'zod'
import { timeText } from '../platform/fields.ts'
import { recordTable } from './schema-tables.ts'
import { defineStream } from './stream.ts'

/** The ways in which an entry can end. `unaccounted`: the platform's answer did not say, so that nobody knows. */
export const outcomeNames = ['applied', 'rejected', 'invalid', 'superseded', 'unaccounted'] as const
export type OutcomeName = (typeof outcomeNames)[number]

/** The end of one entry of an intent. Its times are ISO 8601, UTC. */
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

/** An outcome with an id of its own. */
export const OutcomeRecord = z.object({
  outcomeId: z.string().describe('Identifies the entry of a request: a repetition has the same id.'),
  ...LimitOutcome.shape,
})
export type OutcomeRecord = z.infer<typeof OutcomeRecord>

/** Outcomes of credit limits. They come from the ledger, not from a list of the platform. */
export const creditLimitOutcomes = defineStream({
  name: 'credit_limit_outcomes',
  doc: 'How each entry of each request for credit limits ended. Rows are added when limits were applied.',
  mode: 'append',
  schema: OutcomeRecord,
  primaryKey: 'outcomeId',
  secretPaths: [],
  tables: [
    recordTable(OutcomeRecord, {
      name: 'credit_limit_outcomes',
      doc: 'Outcomes of credit limits: one row per entry of a request.',
      key: ['outcome_id'],
      fields: {
        index: { column: 'entry_index' },
        identity: { column: 'email' },
        address: { column: 'email_as_written' },
        limit: { column: 'credit_limit' },
        previousLimit: { column: 'previous_credit_limit' },
      },
    }),
  ],
})
