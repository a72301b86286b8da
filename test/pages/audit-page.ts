import { type RevisionDiff, readHistory } from '../../lib/audit/changes/history.ts'
import { createWatch } from '../../lib/audit/changes/watch.ts'
import { watchRules } from '../../lib/audit/changes/watch-rules.ts'
import { renderReport } from '../../lib/audit/report/report.ts'
import { type Finding, readFindings } from '../../lib/audit/trail/finding.ts'
import { entryRefsOf } from '../../lib/audit/trail/revision-index.ts'
import { verifyTrail } from '../../lib/audit/verify/verify.ts'
import type { Json } from '../../lib/core/json.ts'
import { settingsAt } from '../../lib/local/simulator/records/enterprise-settings.ts'
import { createRedactor } from '../../lib/redaction/redact.ts'
import { enterpriseControlRevisions } from '../../lib/streams/enterprise-control-revisions.ts'
import { auditParts, scan, seen, signal, testClock, testSigner } from '../audit/memory.ts'
import type { PageUnderTest } from './pages.ts'

const { redact } = createRedactor('k')
const quarterBegins = Date.UTC(2026, 6, 1)
const quarterMs = 92 * 86_400_000
const people = ['Ana Costa', 'Ben Okafor', 'Mei Tanaka', 'Rut Lind'].map((name) => ({
  id: `u_${name.slice(0, 3).toLowerCase()}`,
  email: `${name.split(' ')[0]?.toLowerCase()}@example.com`,
  name,
}))

/** Revisions of a quarter, as a busy organization makes them. */
export function quarterOfRevisions(count: number): { revision: number; [key: string]: Json }[] {
  return Array.from({ length: count }, (_, i) => ({
    revision: i + 1,
    settings: JSON.parse(JSON.stringify(settingsAt(i + 1))) as Json,
    ...(i % 20 === 7 ? {} : { user: people[(i * i) % people.length] as Json }),
    updatedAt: new Date(quarterBegins + (i * quarterMs) / count + (i % 7) * 3_600_000).toISOString(),
  }))
}

/** The page on a trail in memory that has these revisions. */
export async function renderTrail(revisions: { revision: number; [key: string]: Json }[]): Promise<string> {
  const clock = testClock(quarterBegins + quarterMs)
  const parts = auditParts({ clock })
  const paths = enterpriseControlRevisions.secretPaths ?? []
  const records = revisions.map((each) => seen(redact(each, { secretPaths: paths }) as typeof each))
  await parts.recorder.record(records, scan, signal)
  await parts.recorder.compare(new Set(revisions.map(({ revision }) => revision)), scan, signal)
  await parts.digester.write(signal)
  const { heads } = (await parts.trail.recoverHead(signal)).state
  const diffs: RevisionDiff[] = []
  const read = (at: number) => parts.trail.read('entries', at)
  const refs = entryRefsOf(await parts.index.at(heads))
  for await (const diff of readHistory(read, refs, { watch: createWatch(watchRules) })) diffs.push(diff)
  const numbers = { first: 1, last: heads.findings.sequence }
  const findings: Finding[] = []
  for await (const each of readFindings((at) => parts.trail.read('findings', at), numbers)) findings.push(each)
  const trustedKeyIds = [await testSigner.keyId()]
  const verification = await verifyTrail(parts.store, { trustedKeyIds })
  return renderReport({ writtenAt: new Date(clock.now()).toISOString(), verification, trustedKeyIds, findings, diffs })
}

/** The auditor's page. */
export const auditPage: PageUnderTest = {
  name: 'audit',
  title: 'Audit report: enterprise settings',
  usual: () => renderTrail(quarterOfRevisions(64).filter(({ revision }) => revision !== 61)),
  hostile: (text) =>
    renderTrail([
      { revision: 1, settings: { note: 'before', commandAllowlist: ['ls'] }, user: text, updatedAt: text },
      {
        revision: 2,
        settings: { note: text, [text]: text, commandAllowlist: ['ls', text], nested: { [text]: { [text]: text } } },
        user: { name: text, email: text, id: text },
        updatedAt: '2026-07-01T00:00:00Z',
      },
    ]),
  printedPages: 40,
}
