import type { KnownLimit, LimitsFacts } from '../../lib/limits/report/facts.ts'
import { renderLimitsReport } from '../../lib/limits/report/report.ts'
import type { LimitOutcome } from '../../lib/streams/limit-outcome.ts'
import type { PageUnderTest } from './pages.ts'

const now = Date.UTC(2026, 8, 30, 6)
const dayMs = 86_400_000
const names = ['ana.costa', 'ben.okafor', 'mei.tanaka', 'rut.lind', 'jo.berg', 'lea.marsh', 'omar.haddad', 'kim.sato']

function timeBefore(days: number): string {
  return new Date(now - days * dayMs).toISOString()
}

function person(i: number): KnownLimit {
  const address = `${names[i % names.length]}${i < names.length ? '' : i}@example.com`
  const limit = 500 + (i % 8) * 250
  return {
    ...{ address, identity: address, order: String(i), requestId: `r${i}`, wanted: limit, limit, status: 'applied' },
    ...{ certain: true, changedAt: timeBefore(i % 60), sourceKind: 'policy', policyVersion: '5d1e0a7c' },
    rule: i % 9 === 0 ? 'override' : ['default', 'group engineers', 'group research'][i % 3],
    ...(i % 9 === 0 ? { why: 'migration of the data platform', until: timeBefore(-(i % 40)).slice(0, 10) } : {}),
  }
}

function outcome(i: number, ended: 'applied' | 'rejected'): LimitOutcome {
  const { address, identity, requestId, limit, rule } = person(i)
  return {
    ...{
      requestId,
      requestedAt: timeBefore(i / 2),
      requestedBy: 'it@example.com',
      source: 'policy',
      index: 0,
      identity,
    },
    ...{ address, limit, previousLimit: i % 5 === 0 ? null : limit - 250, outcome: ended, apiCall: `call-${i}`, rule },
    reason: ended === 'applied' ? null : 'unknown to the platform',
    recordedAt: timeBefore(i / 2),
  }
}

function numbered<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}

const usual: LimitsFacts = {
  writtenAt: timeBefore(0),
  since: timeBefore(30),
  people: numbered(120, person),
  uncertain: 2,
  changes: numbered(40, (i) => outcome(i, 'applied')),
  refused: numbered(3, (i) => outcome(i, 'rejected')),
  waiting: [
    { id: '0123abcd', madeAt: timeBefore(1), changes: 34, reasons: ['The sum would grow by 24 %, above 20 %.'] },
  ],
  sums: numbered(31, (i) => ({ day: timeBefore(30 - i).slice(0, 10), sum: 131_000 + i * 650 + (i % 7) * 900 })),
}

/** The page on credit limits. */
export const limitsPage: PageUnderTest = {
  name: 'limits',
  title: 'Credit limits',
  usual: async () => renderLimitsReport(usual),
  hostile: async (text) =>
    renderLimitsReport({
      ...usual,
      people: [{ ...person(0), address: text, why: text, rule: text, policyVersion: text, until: text }],
      changes: [{ ...outcome(0, 'applied'), address: text, source: text, requestedBy: text }],
      refused: [{ ...outcome(1, 'rejected'), address: text, reason: text }],
      waiting: [{ id: text, madeAt: text, changes: 1, reasons: [text, text] }],
    }),
  printedPages: 12,
}
