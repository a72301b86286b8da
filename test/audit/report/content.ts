import { readHistory } from '../../../lib/audit/changes/history.ts'
import { createWatch } from '../../../lib/audit/changes/watch.ts'
import { watchRules } from '../../../lib/audit/changes/watch-rules.ts'
import { historyIn, type Period } from '../../../lib/audit/report/period.ts'
import type { ReportContent } from '../../../lib/audit/report/report.ts'
import { type Finding, readFindings } from '../../../lib/audit/trail/finding.ts'
import { entryRefsOf } from '../../../lib/audit/trail/revision-index.ts'
import { verifyTrail } from '../../../lib/audit/verify/verify.ts'
import { type auditParts, signal, testSigner } from '../memory.ts'

/** All that is recorded. */
export const allTime: Period = { from: null, until: null }

/** What a report on a trail in memory tells. */
export async function contentOf(
  { store, trail, index, clock }: ReturnType<typeof auditParts>,
  period = allTime,
): Promise<ReportContent> {
  const { heads } = (await trail.recoverHead(signal)).state
  const revisions = readHistory((at) => trail.read('entries', at), entryRefsOf(await index.at(heads)), {
    watch: createWatch(watchRules),
  })
  const findings: Finding[] = []
  const numbers = { first: 1, last: heads.findings.sequence }
  for await (const each of readFindings((at) => trail.read('findings', at), numbers)) findings.push(each)
  const trustedKeyIds = [await testSigner.keyId()]
  return {
    ...{ period, trustedKeyIds, findings, history: await historyIn(period, revisions) },
    writtenAt: new Date(clock.now()).toISOString(),
    place: { organization: null, account: null, bucket: null },
    verification: await verifyTrail(store, { trustedKeyIds, head: async () => heads }),
  }
}
