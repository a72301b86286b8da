import * as z from 'zod'
import type { Json } from '../core/json.ts'
import { lazyObject } from '../core/schema.ts'
import { parseTime } from '../platform/times.ts'
import { LimitOutcome } from './limit-outcome.ts'
import { recordTable } from './schema-tables.ts'
import { defineStream } from './stream.ts'
import type { Table } from './table.ts'

/** An outcome with an id of its own. */
export const OutcomeRecord = lazyObject(() => ({
  outcomeId: z.string().describe('Identifies the entry of a request: a repetition has the same id.'),
  ...LimitOutcome.shape,
}))
export type OutcomeRecord = z.infer<typeof OutcomeRecord>

const columns = {
  identity: { column: 'email' },
  address: { column: 'email_as_written' },
  limit: { column: 'credit_limit' },
  previousLimit: { column: 'previous_credit_limit' },
} as const

const appliedEntries = recordTable(OutcomeRecord, {
  name: 'credit_limit_changes',
  doc: 'Credit limits that changed: one row per change that the platform confirmed, with who answers for it.',
  key: ['outcome_id'],
  fields: { ...columns, index: 'left_out', outcome: 'left_out', reason: 'left_out', apiCall: 'left_out' },
})

/** Who has what since when, without the entries that changed nothing: those repeat what stands, or were not applied. */
const changes: Table = {
  ...appliedEntries,
  read: (record, key) =>
    isChange(record) ? appliedEntries.read(record, key) : { rows: [], misfits: [], drifted: false },
}

function isChange(record: Json): boolean {
  const { outcome, limit, previousLimit } = record as Partial<OutcomeRecord>
  return outcome === 'applied' && limit !== previousLimit
}

/** Outcomes of credit limits. They come from the ledger, not from a list of the platform. */
export const creditLimitOutcomes = defineStream({
  name: 'credit_limit_outcomes',
  doc: 'How each entry of each request for credit limits ended. Rows are added when limits were applied.',
  mode: 'append',
  // An outcome is written a while after the time it names, at most as long as a worker may live.
  lateMs: 16 * 60_000,
  changedAt: ({ recordedAt }) => parseTime(String(recordedAt)) ?? undefined,
  schema: OutcomeRecord,
  primaryKey: 'outcomeId',
  secretPaths: [],
  personal: ['requestedBy', 'identity', 'address'],
  about: { field: 'identity', column: 'email' },
  tables: [
    recordTable(OutcomeRecord, {
      name: 'credit_limit_outcomes',
      doc: 'Outcomes of credit limits: one row per entry of a request.',
      key: ['outcome_id'],
      fields: {
        index: { column: 'entry_index' },
        ...columns,
      },
    }),
    changes,
  ],
})
