import type { Json } from '../../core/json.ts'
import type { Source } from '../../sync/ports.ts'
import type { LedgerReader } from '../ports.ts'
import { outcomeRecord } from './outcome.ts'

/** No outcome is older than the ledger. */
const beginning = Date.UTC(2026, 0, 1)
const outcomesPerPage = 1_000

/** The source of the stream of outcomes: pages of the ledger's log, whose tokens are places in the log. */
export function createLedgerSource(reader: Pick<LedgerReader, 'outcomesAfter'>): Source {
  return {
    fetchPage: async (_stream, token, { window, signal }) => {
      signal.throwIfAborted()
      const after = token ?? new Date(window.since ?? beginning).toISOString()
      const { outcomes, next } = await reader.outcomesAfter(after, window.until, outcomesPerPage)
      return {
        records: outcomes.map((outcome) => outcomeRecord(outcome) as Json),
        nextToken: next,
        isLast: () => next === null,
      }
    },
  }
}
