import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { WaitingPlan } from '../limits/report/facts.ts'
import { readFacts } from '../limits/report/facts.ts'
import { renderLimitsReport } from '../limits/report/report.ts'
import { openPolicyRoot } from './limits-policy-folder.ts'
import type { LimitsWorkspace } from './limits-workspace.ts'
import { atPath } from './out-path.ts'

/** What a report says, in numbers. */
export type WrittenReport = { file: string; people: number; changes: number; refused: number; waiting: number }

/** Writes the report on limits to a file. @throws FatalError `usage` when it can't be written. */
export async function writeLimitsReport(
  out: string,
  { opened, ...span }: { opened: LimitsWorkspace; now: number; since: number },
): Promise<WrittenReport> {
  const waiting = await waitingPlans(opened)
  const facts = await readFacts({ ...span, waiting }, opened.limits.reader)
  const page = renderLimitsReport(facts)
  await atPath(out, async () => {
    await mkdir(dirname(out), { recursive: true })
    await writeFile(out, page)
  })
  const { people, changes, refused } = facts
  return {
    ...{ file: out, people: people.length, changes: changes.length },
    ...{ refused: refused.length, waiting: waiting.length },
  }
}

/** The plan of the policy that waits for approval, if one does: a newer one takes the place of an older. */
async function waitingPlans(opened: LimitsWorkspace): Promise<WaitingPlan[]> {
  const newest = await openPolicyRoot(opened).store.newest()
  if (newest?.status !== 'waiting') return []
  const { plan, madeAt, reasons } = newest
  return [{ id: plan.id, madeAt, changes: plan.changes.length, reasons }]
}
