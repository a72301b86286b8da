import * as z from 'zod'
import { sha256 } from '../../core/hash.ts'
import { singlePage } from '../../platform/paging.ts'
import { field } from '../../streams/columns.ts'
import { defineStream } from '../../streams/stream.ts'
import { defineTable } from '../../streams/table.ts'
import { keyText, LimitOutcome, outcomeKey } from './outcome.ts'

/** An outcome with an id of its own. */
export const OutcomeRecord = LimitOutcome.extend({
  outcomeId: z.string().describe('Identifies the entry of a request: a repetition has the same id.'),
})
export type OutcomeRecord = z.infer<typeof OutcomeRecord>

/** An outcome as the warehouse has it. */
export function outcomeRecord(outcome: LimitOutcome): OutcomeRecord {
  return {
    outcomeId: sha256(keyText(outcomeKey(outcome))).slice(0, 32),
    ...outcome,
  }
}

/** How each entry of each request for credit limits ended. */
export const creditLimitOutcomes = defineTable({
  name: 'credit_limit_outcomes',
  doc: 'Outcomes of credit limits: one row per entry of a request.',
  key: ['outcome_id'],
  each: (record: OutcomeRecord) => [record],
  columns: [
    field(OutcomeRecord, 'outcomeId'),
    field(OutcomeRecord, 'requestId'),
    field(OutcomeRecord, 'requestedAt', { type: 'timestamp', doc: 'When it was asked.' }),
    field(OutcomeRecord, 'requestedBy'),
    field(OutcomeRecord, 'source'),
    field(OutcomeRecord, 'index', { name: 'entry_index' }),
    field(OutcomeRecord, 'identity', { name: 'email' }),
    field(OutcomeRecord, 'address', { name: 'email_as_written' }),
    field(OutcomeRecord, 'limit', { name: 'credit_limit' }),
    field(OutcomeRecord, 'previousLimit', { name: 'previous_credit_limit' }),
    field(OutcomeRecord, 'outcome', { type: 'string' }),
    field(OutcomeRecord, 'reason'),
    field(OutcomeRecord, 'apiCall'),
    field(OutcomeRecord, 'recordedAt', { type: 'timestamp', doc: 'When the outcome was recorded.' }),
  ],
})

/**
 * The outcomes as publish, catalog and docs see them. They come from the ledger (limits/outcomes-scan.ts), not from a list
 * of the platform: the engine never reads this stream.
 */
export const outcomesStream = defineStream({
  name: 'credit_limit_outcomes',
  doc: 'How each entry of each request for credit limits ended. Rows are added when limits were applied.',
  endpoint: { base: 'v0', path: '/api/v0/organization/usage/limits/users' },
  paging: singlePage('outcomes'),
  schema: OutcomeRecord,
  primaryKey: 'outcomeId',
  secretPaths: [],
  tables: [creditLimitOutcomes],
})
