import { type Html, html } from '../../report/html.ts'
import { factList, renderPage } from '../../report/page.ts'
import { counted } from '../../report/words.ts'
import type { Finding } from '../trail/finding.ts'
import type { Verification } from '../verify/verify.ts'
import { isIn, type Period, type PeriodHistory, periodText } from './period.ts'
import { reportFull, reportRevisions } from './report-annex.ts'
import { changesByPerson, filtersOf, type PersonChanges, reportChanges } from './report-changes.ts'
import { type EvidenceContext, reportChecking, reportSignatures, verdictHtml } from './report-evidence.ts'
import { filterStyle } from './report-filters.ts'
import { reportAttention, reportFindings } from './report-findings.ts'
import { reportSettings } from './report-settings.ts'
import { auditStyle, paperStyle } from './report-style.ts'

/** Where the trail lies; null for what is not known. */
export type TrailPlace = { organization: string | null; account: string | null; bucket: string | null }

/** The content of the report. */
export type ReportContent = {
  /** ISO 8601, UTC. */
  writtenAt: string
  period: Period
  place: TrailPlace
  verification: Verification
  /** Ids of keys that were known beforehand, and against which signatures were checked. */
  trustedKeyIds: readonly string[]
  /** All of them, the oldest first. */
  findings: readonly Finding[]
  history: PeriodHistory
}

const title = 'Audit report: enterprise settings'

/**
 * One page for an auditor that needs nothing but itself: whether the evidence holds, who signed it, findings, what changed
 * in the period by whom, and the settings at its end; as annexes every revision, and how to repeat the check. Holds no
 * secret and no script.
 */
export function renderReport(content: ReportContent): string {
  const { history, findings, period, writtenAt } = content
  const people = changesByPerson(history.diffs)
  const filters = filtersOf(people)
  const observed = findings.filter(({ observedAt }) => isIn(period, Date.parse(observedAt)))
  const evidence: EvidenceContext = { ...content, recordBegan: history.recordBegan }
  return renderPage({
    ...{ title, writtenAt },
    lead: html`${placeList(content)}${verdictHtml(evidence)}`,
    sections: [
      { id: 'summary', title: '1 Summary', body: summary(content, { people, findings: observed.length }) },
      { id: 'signatures', title: '2 Signatures', body: reportSignatures(evidence) },
      { id: 'findings', title: '3 Findings', body: reportFindings(observed, findings.length - observed.length) },
      {
        id: 'attention',
        title: '4 Changes that deserve attention',
        body: reportAttention(people.flatMap(({ made }) => made)),
      },
      { id: 'changes', title: '5 Changes by person', body: reportChanges(people, filters) },
      { id: 'settings', title: '6 Settings at the end of the period', body: reportSettings(history.last) },
      { id: 'revisions', title: 'Annex A: every revision', body: reportRevisions(history.diffs) },
      { id: 'full', title: 'Annex B: folded changes in full', body: reportFull(people) },
      { id: 'checking', title: 'Annex C: how to repeat the check', body: reportChecking(evidence) },
    ],
    footer: html`Secrets are shown as [secret]; the stored evidence holds keyed fingerprints of them.`,
    style: auditStyle + filterStyle(filters) + paperStyle(periodText(period)),
  })
}

function placeList({ period, place: { organization, account, bucket } }: ReportContent): Html {
  const facts = { Period: periodText(period), Organization: organization, Account: account, Bucket: bucket }
  return html`<dl class="place">${Object.entries(facts).map(
    ([name, value]) => html`<div><dt>${name}</dt><dd><bdi>${value ?? 'not known'}</bdi></dd></div>`,
  )}</dl>`
}

function summary(
  { history, verification: { entries } }: ReportContent,
  { people, findings }: { people: readonly PersonChanges[]; findings: number },
): Html {
  const { diffs, outside, recordedLate } = history
  const made = people.flatMap(({ made }) => made)
  const [first, last] = [diffs[0]?.entry.revision, diffs.at(-1)?.entry.revision]
  const critical = made.filter(({ decision }) => decision.severity === 'critical').length
  return html`${factList([
    [
      first === undefined ? 'Revisions' : `Revisions, ${first} to ${last}`,
      new Set(diffs.map(({ entry }) => entry.revision)).size,
    ],
    ['Changes', made.length],
    ['People', people.filter(({ key }) => key !== '').length],
    ['Findings', findings],
    ['Critical changes', critical],
    ['Entries verified', entries.checked],
  ])}${
    outside > 0 &&
    html`<p>${counted(outside, 'revision')} of other times ${outside === 1 ? 'is' : 'are'} not in this report.
${recordedLate > 0 && `${recordedLate} of them were recorded in this period, but the platform says that they were made in another.`}</p>`
  }`
}
