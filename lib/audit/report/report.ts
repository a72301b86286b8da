import { type Html, html } from '../../report/html.ts'
import { factList, renderPage, shown } from '../../report/page.ts'
import { type RevisionDiff, userOf, userText, type WatchedChange } from '../changes/history.ts'
import { type Finding, meaningOf, type Severity } from '../trail/finding.ts'
import { countsText, faultsText, type Verification, verdictOf } from '../verify/verify.ts'
import { auditStyle } from './report-style.ts'
import { breakable, reportTimeline, whenOf } from './report-timeline.ts'

/** The content of the report. Diffs come in the order of their revisions. */
type ReportContent = {
  /** ISO 8601, UTC. */
  writtenAt: string
  verification: Verification
  /** Ids of keys that were known beforehand, and against which signatures were checked. */
  trustedKeyIds: readonly string[]
  findings: readonly Finding[]
  diffs: readonly RevisionDiff[]
}

/**
 * One page for an auditor that needs nothing but itself: summary, verification and how to repeat it, findings, changes
 * that deserve attention, and every revision with who changed what. Holds no secret and no script.
 */
export function renderReport(content: ReportContent): string {
  return renderPage({
    title: 'Audit report: enterprise settings',
    writtenAt: content.writtenAt,
    sections: [
      { id: 'summary', title: 'Summary', body: summary(content) },
      { id: 'verification', title: 'Verification', body: verification(content) },
      { id: 'findings', title: 'Findings', body: findings(content) },
      { id: 'attention', title: 'Changes that deserve attention', body: attention(content) },
      { id: 'timeline', title: 'All revisions', body: reportTimeline(content.diffs) },
    ],
    footer: html`Secrets are shown as [secret]; the stored evidence holds keyed fingerprints of them.`,
    style: auditStyle,
  })
}

function summary({ diffs, findings, verification: { entries, faults } }: ReportContent): Html {
  const people = new Set(
    diffs.flatMap(({ entry }) => userOf(entry).id ?? userOf(entry).email ?? userOf(entry).name ?? []),
  )
  const matches = matchesOf(diffs)
  const facts: [string, string | number][] = [
    [
      diffs.length === 0 ? 'Revisions' : `Revisions, ${diffs[0]?.entry.revision} to ${diffs.at(-1)?.entry.revision}`,
      new Set(diffs.map(({ entry }) => entry.revision)).size,
    ],
    ['Entries verified', entries.checked],
    ['People', people.size],
    ['Findings', findings.length],
    ['Critical changes', matches.filter(({ severity }) => severity === 'critical').length],
    ['Faults in evidence', faults.length],
  ]
  return factList(facts)
}

function verification({ verification: result, trustedKeyIds }: ReportContent): Html {
  const { faults, notes, digests, unsignedEntries } = result
  const good = faults.length === 0
  return html`<p class="verdict${good ? '' : ' bad'}">${good ? verdictOf(result) : `The evidence has ${faultsText(faults)}.`}</p>
<p>Checked from the stored bytes: ${countsText(result)}.
${digests.newest ? html`The newest digest is number ${digests.newest.sequence}, of ${shown(digests.newest.writtenAt)}, and has the hash <code>${digests.newest.hash}</code>.` : 'No digest with a right signature was found.'}
${unsignedEntries > 0 && html`No signature vouches for the last ${unsignedEntries} entries.`}</p>
${faults.length > 0 && faultTable(result)}
${notes.map(({ place, message }) => html`<p>${place} ${message}.</p>`)}
<p>${trustedKeyIds.length > 0 ? 'Signatures were checked against the keys that were known beforehand.' : 'Compare the id of the signing key with what you were told by another way:'}</p>
<ul>${digests.keyIds.map((id) => html`<li><code>${id}</code></li>`)}</ul>
<h3>How to repeat it</h3>
<p>Ask for an evidence pack (<code>platform-sync audit export --out pack</code>) and run in it, with Node.js 18 or later and nothing else:</p>
<pre><code>node verify.mjs ${digests.keyIds.map((id) => `--key-id ${id} `)}--expect ${digests.newest?.hash ?? '<hash>'}</code></pre>
<p>Keep the hash of the newest digest where nobody of the organization can write, and give it as <code>--expect</code> the next time: evidence that was set back as a whole
to an earlier day has no fault in itself, and only what was kept elsewhere shows it.</p>
<p>AUDIT-FORMAT.md in the pack says what is checked, so that a verifier of your own can do the same.</p>`
}

function faultTable({ faults }: Verification): Html {
  return html`<table><caption>Faults</caption>
<thead><tr><th scope="col">Place</th><th scope="col">Kind</th><th scope="col">What is wrong</th></tr></thead>
<tbody>${faults.map(({ place, kind, message }) => html`<tr><th scope="row">${place}</th><td>${kind.replaceAll('_', ' ')}</td><td>${message}</td></tr>`)}</tbody></table>`
}

function findings({ findings }: ReportContent): Html {
  return findings.length === 0 ? html`<p>None.</p>` : findingTable(findings)
}

function findingTable(findings: readonly Finding[]): Html {
  return html`<table><caption>What was found wrong with the history, newest first</caption>
<thead><tr><th scope="col">Finding</th><th scope="col">Severity</th><th scope="col">Seen</th><th scope="col">Details</th></tr></thead>
<tbody>${findings.toReversed().map(
    ({
      sequence,
      kind,
      severity,
      observedAt,
      message,
    }) => html`<tr><th scope="row">${sequence}</th><td>${tag(severity)}</td>
<td><time datetime="${observedAt}">${shown(observedAt)}</time></td><td>${meaningOf(kind)} ${message}</td></tr>`,
  )}</tbody></table>`
}

type Matched = { diff: RevisionDiff; change: WatchedChange; severity: Severity; why: string }

function matchesOf(diffs: readonly RevisionDiff[]): Matched[] {
  return diffs.flatMap((diff) =>
    diff.changes.flatMap((change) => change.matches.map(({ severity, why }) => ({ diff, change, severity, why }))),
  )
}

function attention({ diffs }: ReportContent): Html {
  const matches = matchesOf(diffs).toReversed()
  const rows = (['critical', 'warning', 'info'] as const).flatMap((severity) =>
    matches.filter((it) => it.severity === severity),
  )
  return rows.length === 0
    ? html`<p>None.</p>`
    : html`<table><caption>By severity, newest first</caption>
<thead><tr><th scope="col">Setting</th><th scope="col">Severity</th><th scope="col">Revision</th><th scope="col">When</th><th scope="col">By</th><th scope="col">Why it matters</th></tr></thead>
<tbody>${rows.map(
        ({
          diff: { entry },
          change,
          severity,
          why,
        }) => html`<tr><th scope="row">${breakable(change.path)}</th><td>${tag(severity)}</td>
<td data-label="Revision"><a href="#entry-${entry.sequence}">${entry.revision}</a></td><td class="day" data-label="When">${whenOf(entry, 'day')}</td>
<td data-label="By">${userText(entry)}</td><td>${why}</td></tr>`,
      )}</tbody></table>`
}

function tag(severity: Severity): Html {
  return html`<span class="tag ${severity}">${severity}</span>`
}
