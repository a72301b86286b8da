import type { PolicyStore } from '../limits/policy/memory.ts'
import type { LedgerReader } from '../limits/ports.ts'
import { type LimitsFacts, readFacts, type WaitingPlan } from '../limits/report/facts.ts'
import { renderLimitsReport } from '../limits/report/report.ts'
import { openPolicyRoot } from './limits-policy-folder.ts'
import type { LimitsWorkspace } from './limits-workspace.ts'
import { writeAt } from './out-path.ts'

/** What a report says, in numbers. */
export type WrittenReport = { file: string; people: number; changes: number; refused: number; waiting: number }

/** What a page on limits is made from: the ledger, and the plans of the policy. */
type Look = { reader: Pick<LedgerReader, 'allStates' | 'outcomesBetween'>; store: Pick<PolicyStore, 'newest'> }
type Span = { now: number; since: number }

/** Makes the page on limits, with the facts that it was made from. */
export async function makeLimitsPage(
  span: Span,
  { reader, store }: Look,
): Promise<{ page: string; facts: LimitsFacts }> {
  const facts = await readFacts({ ...span, waiting: await waitingPlans(store) }, reader)
  return { page: renderLimitsReport(facts), facts }
}

/** Writes the report on limits to a file. @throws FatalError `usage` when it can't be written. */
export async function writeLimitsReport(
  out: string,
  { opened, ...span }: { opened: LimitsWorkspace } & Span,
): Promise<WrittenReport> {
  const { reader } = opened.limits
  const { page, facts } = await makeLimitsPage(span, { reader, store: openPolicyRoot(opened).store })
  await writeAt(out, page)
  const { people, changes, refused, waiting } = facts
  return {
    ...{ file: out, people: people.length, changes: changes.length },
    ...{ refused: refused.length, waiting: waiting.length },
  }
}

/** The plan of the policy that waits for approval, if one does: a newer one takes the place of an older. */
async function waitingPlans(store: Look['store']): Promise<WaitingPlan[]> {
  const newest = await store.newest()
  if (newest?.status !== 'waiting') return []
  const { plan, madeAt, reasons } = newest
  return [{ id: plan.id, madeAt, changes: plan.changes.length, reasons }]
}
