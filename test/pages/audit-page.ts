import { quarterOf } from '../../lib/audit/report/period.ts'
import { renderReport } from '../../lib/audit/report/report.ts'
import type { Json } from '../../lib/core/json.ts'
import { settingsAt } from '../../lib/local/simulator/records/enterprise-settings.ts'
import { createRedactor } from '../../lib/redaction/redact.ts'
import { enterpriseControlRevisions } from '../../lib/streams/enterprise-control-revisions.ts'
import { auditParts, scan, seen, signal, testClock } from '../audit/memory.ts'
import { contentOf } from '../audit/report/content.ts'
import type { PageUnderTest } from './pages.ts'

const { redact } = createRedactor('k')
const quarterBegins = Date.UTC(2026, 6, 1)
const quarterMs = 92 * 86_400_000
const weeks = 13
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
    ...(i % 20 === 7 ? {} : { user: people[(i * i + (i >> 2)) % people.length] as Json }),
    updatedAt: new Date(quarterBegins + (i * quarterMs) / count + (i % 7) * 3_600_000).toISOString(),
  }))
}

/** The page on a trail in memory that has these revisions. */
export async function renderTrail(
  revisions: { revision: number; [key: string]: Json }[],
  organization = 'Example Works',
): Promise<string> {
  const clock = testClock(quarterBegins + quarterMs)
  const parts = auditParts({ clock, promisedMs: null })
  const paths = enterpriseControlRevisions.secretPaths ?? []
  const records = revisions.map((each) => seen(redact(each, { secretPaths: paths }) as typeof each))
  const all = revisions.map(({ revision }) => revision)
  for (let week = 0; week < weeks; week++) {
    clock.at = quarterBegins + ((week + 1) * quarterMs) / weeks - 3_600_000
    const [first, last] = [week, week + 1].map((at) => Math.ceil((at * records.length) / weeks)) as [number, number]
    await parts.recorder.record(records.slice(first, last), scan, signal)
    await parts.recorder.compare(new Set(all.slice(0, last)), scan, signal)
    await parts.digester.write(signal)
  }
  // The quarter is over when the page is written.
  clock.at = quarterBegins + quarterMs + 7_200_000
  await parts.digester.write(signal)
  const place = { organization, account: '123456789012', bucket: 'platform-sync-audit-123456789012' }
  return renderReport({ ...(await contentOf(parts, quarterOf('2026Q3')!)), place })
}

/** The auditor's page. */
export const auditPage: PageUnderTest = {
  name: 'audit',
  title: 'Audit report: enterprise settings',
  usual: () => renderTrail(quarterOfRevisions(64).filter(({ revision }) => revision !== 61)),
  hostile: (text) =>
    renderTrail(
      [
        { revision: 1, settings: { note: 'before', commandAllowlist: ['ls'] }, user: text, updatedAt: text },
        {
          revision: 2,
          settings: { note: text, [text]: text, commandAllowlist: ['ls', text], nested: { [text]: { [text]: text } } },
          user: { name: text, email: text, id: text },
          updatedAt: '2026-07-02T00:00:00Z',
        },
      ],
      text,
    ),
  printedPages: 14,
}
