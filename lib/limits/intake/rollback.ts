import type { LimitOutcome } from '../../streams/limit-outcome.ts'
import { identityOf } from '../email.ts'
import { orderOf } from '../intent.ts'
import type { LimitState } from '../limit-state.ts'
import type { LedgerReader } from '../ports.ts'
import type { LimitRows } from './rows.ts'

/** A limit that a plan changed, as the ledger recorded it. */
export type AppliedChange = LimitOutcome & { limit: number }

/** Reads what a plan changed, from a time (Unix ms) up to before another: of each address the newest. */
export async function changesOfPlan(
  id: string,
  { reader, from, to }: { reader: Pick<LedgerReader, 'outcomesBetween'>; from: number; to: number },
): Promise<AppliedChange[]> {
  const newest = new Map<string, AppliedChange>()
  for await (const outcome of reader.outcomesBetween(from, to)) {
    if (outcome.outcome !== 'applied' || outcome.limit === null || !isOf(outcome, id)) continue
    const other = newest.get(outcome.identity)
    if (!other || orderOf(outcome) > orderOf(other)) newest.set(outcome.identity, { ...outcome, limit: outcome.limit })
  }
  return [...newest.values()]
}

// What was applied before outcomes named their plan has it in the name of its request.
function isOf({ planId, requestId }: LimitOutcome, id: string): boolean {
  return planId === id || requestId.startsWith(`plan-${id}-`)
}

/**
 * The rows of a plan that sets back what another changed, as far as that still stands. The rest is told with its reason:
 * a newer request's limit is not overwritten, and a limit of which nothing was known before has no way back, unless
 * `unknown` says what to set it to.
 */
export function rollbackRows(
  id: string,
  changes: readonly AppliedChange[],
  { states, unknown }: { states: ReadonlyMap<string, LimitState>; unknown?: number | undefined },
): LimitRows {
  const rows: LimitRows = { rows: [], invalid: [], aboveMaximum: [], notes: [] }
  changes.forEach((change, at) => {
    const { address, identity, limit, previousLimit } = change
    const line = at + 1
    const back = previousLimit ?? unknown
    const reason = back === undefined ? noWayBack : whyNot(change, states.get(identityOf(address)))
    if (reason === null && back !== undefined) {
      rows.rows.push({ line, identity, address, limit: back, rule: 'rollback', why: `sets back plan ${id}` })
    } else rows.invalid.push({ line, reason: reason ?? noWayBack, text: `${address},${limit}` })
  })
  return rows
}

const noWayBack = 'nothing was known of its limit before; --unknown <limit> says what to set'

/** The reason why a change can't be set back, or null: it must be what the platform has, and the newest that was asked for. */
function whyNot(change: AppliedChange, state: LimitState | undefined): string | null {
  if (!state?.certain) return 'what limit the address has is not certain'
  if (state.limit !== change.limit) return `a newer request changed it to ${state.limit}`
  // A newer request that the platform refused left the limit where it was.
  if (state.order === orderOf(change) || state.status === 'rejected') return null
  return 'a newer request asked for the same limit'
}
