import { type Html, html } from '../../report/html.ts'
import { shown } from '../../report/page.ts'
import { counted } from '../../report/words.ts'
import type { WatchMatch } from '../changes/watch.ts'
import { type Finding, meaningOf, type Severity } from '../trail/finding.ts'
import type { Made } from './report-changes.ts'

/** What was found wrong with the history in the period. */
export function reportFindings(findings: readonly Finding[], elsewhere: number): Html {
  const others =
    elsewhere > 0 &&
    html`<p>${counted(elsewhere, 'finding')} of other times ${elsewhere === 1 ? 'is' : 'are'} not listed here.</p>`
  if (findings.length === 0) return html`<p>None.</p>${others}`
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
  )}</tbody></table>${others}`
}

/** The watch rules that changes of the period match: why they matter, how often, and where to look. */
export function reportAttention(made: readonly Made[]): Html {
  const matched = made.flatMap((each) => each.decision.matches.map((match) => ({ match, made: each })))
  const rules = [...Map.groupBy(matched, ({ match }) => match.id).values()]
  if (rules.length === 0) return html`<p>None.</p>`
  const rows = (['critical', 'warning', 'info'] as const).flatMap((severity) =>
    rules
      .filter(([first]) => first?.match.severity === severity)
      .toSorted((a, b) => b.length - a.length)
      .map((some) => ruleRow(some)),
  )
  return html`<table class="attention"><caption>By severity, and by how often</caption>
<thead><tr><th scope="col">Why it matters</th><th scope="col">Severity</th><th scope="col">How often</th><th scope="col">Revisions, newest first</th></tr></thead>
<tbody>${rows}</tbody></table>`
}

const mostRevisions = 10

function ruleRow(some: { match: WatchMatch; made: Made }[]): Html {
  const { why, severity } = some[0]!.match
  const entries = new Map(some.map(({ made: { diff } }) => [diff.entry.sequence, diff.entry.revision]))
  const newest = [...entries].toSorted(([, a], [, b]) => b - a)
  const more = newest.length - mostRevisions
  return html`<tr><th scope="row">${why}</th><td data-label="Severity">${tag(severity)}</td><td data-label="How often">${some.length}</td>
<td data-label="Revisions">${newest.slice(0, mostRevisions).map(([sequence, revision], at) => html`${at > 0 && ', '}<a href="#entry-${sequence}">${revision}</a>`)}${more > 0 && ` and ${more} more`}</td></tr>`
}

function tag(severity: Severity): Html {
  return html`<span class="tag ${severity}">${severity}</span>`
}
