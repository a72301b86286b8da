import { utcDate } from '../../core/clock.ts'
import { type Html, html } from '../../report/html.ts'
import { factList, renderPage, shown } from '../../report/page.ts'
import { amount } from '../../report/words.ts'
import type { LimitOutcome } from '../../streams/limit-outcome.ts'
import { accountOf } from '../outcomes/account.ts'
import type { KnownLimit, LimitsFacts, WaitingPlan } from './facts.ts'
import { sumPicture, sumStyle } from './sum-picture.ts'

/** Rows of one table that a browser and a printer still take well; what is left out is counted. */
const maxRows = 5_000
const soonMs = 30 * 86_400_000

/**
 * One page for whoever answers for the limits: the sum over time, what waits for approval, what ends soon, what was
 * refused, what changed, and who has what and why. It needs nothing but itself.
 */
export function renderLimitsReport(facts: LimitsFacts): string {
  const ending = endingSoon(facts)
  const since = facts.since.slice(0, 10)
  return renderPage({
    title: 'Credit limits',
    writtenAt: facts.writtenAt,
    style: sumStyle + reportStyle,
    sections: [
      { id: 'summary', title: 'Summary', body: summary(facts, ending.length) },
      { id: 'sum', title: 'The sum over time', body: sumPicture(facts.sums) },
      { id: 'waiting', title: 'Waits for approval', body: waitingTable(facts.waiting) },
      { id: 'ending', title: 'Ends soon', body: peopleTable(ending, 'Within 30 days, or past its end') },
      { id: 'refused', title: 'Refused', body: outcomeTable(facts.refused, `Since ${since}, newest first`) },
      { id: 'changes', title: 'Changed', body: outcomeTable(facts.changes, `Since ${since}, newest first`) },
      { id: 'people', title: 'Who has what, and why', body: peopleTable(facts.people, 'By address') },
    ],
    footer: html`As far as the ledger knows: limits that were changed on the platform's own pages are not seen.`,
  })
}

const reportStyle = `
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
@media (max-width: 40rem) { td.number { text-align: left; } }
`

function summary({ people, uncertain, changes, refused, waiting, since }: LimitsFacts, ending: number): Html {
  const sum = people.reduce((all, { limit }) => all + limit, 0)
  const from = since.slice(0, 10)
  return html`${factList([
    ['People with a limit', amount(people.length)],
    ['Sum of their limits', amount(sum)],
    [`Changes since ${from}`, amount(changes.length)],
    [`Refused since ${from}`, amount(refused.length)],
    ['Plans that wait', amount(waiting.length)],
    ['End soon', amount(ending)],
  ])}${uncertain > 0 && html`<p class="verdict bad">Of ${amount(uncertain)} more addresses it is not certain what limit they have.</p>`}`
}

/** Those whose limit stands until a time that comes soon, or is past, by that time. */
function endingSoon({ people, writtenAt }: LimitsFacts): KnownLimit[] {
  const last = utcDate(Date.parse(writtenAt) + soonMs)
  return people
    .filter(({ until }) => until !== undefined && until.slice(0, 10) <= last)
    .sort((a, b) => ((a.until ?? '') < (b.until ?? '') ? -1 : 1))
}

function waitingTable(plans: readonly WaitingPlan[]): Html {
  if (plans.length === 0) return none
  return html`<table><caption>Approve one with: platform-sync limits approve &lt;plan&gt;</caption>
<thead><tr><th scope="col">Plan</th><th scope="col">Made</th><th scope="col">Changes</th><th scope="col">Why it waits</th></tr></thead>
<tbody>${plans.map(
    ({ id, madeAt, changes, reasons }) => html`<tr><th scope="row">${id}</th><td data-label="Made">${when(madeAt)}</td>
<td class="number" data-label="Changes">${amount(changes)}</td><td>${reasons.join(' ')}</td></tr>`,
  )}</tbody></table>`
}

function outcomeTable(outcomes: readonly LimitOutcome[], caption: string): Html {
  if (outcomes.length === 0) return none
  return html`<table><caption>${caption}</caption>
<thead><tr><th scope="col">Address</th><th scope="col">When</th><th scope="col">Before</th><th scope="col">Asked</th><th scope="col">Where from, and why</th></tr></thead>
<tbody>${outcomes.slice(0, maxRows).map(outcomeRow)}</tbody></table>${leftOut(outcomes.length)}`
}

function outcomeRow(outcome: LimitOutcome): Html {
  const { address, recordedAt, previousLimit, limit, outcome: name, reason } = outcome
  return html`<tr><th scope="row">${address}</th><td data-label="When">${when(recordedAt)}</td>
<td class="number" data-label="Before">${limitText(previousLimit)}</td><td class="number" data-label="Asked">${limitText(limit)}</td>
<td>${accountOf(outcome)}${name !== 'applied' && html`<span class="why critical">${name}${reason !== null && `: ${reason}`}</span>`}</td></tr>`
}

function peopleTable(people: readonly KnownLimit[], caption: string): Html {
  if (people.length === 0) return none
  return html`<table><caption>${caption}</caption>
<thead><tr><th scope="col">Address</th><th scope="col">Limit</th><th scope="col">Since</th><th scope="col">Until</th><th scope="col">Where from, and why</th></tr></thead>
<tbody>${people.slice(0, maxRows).map(personRow)}</tbody></table>${leftOut(people.length)}`
}

function personRow(person: KnownLimit): Html {
  const { address, limit, changedAt, until, ...from } = person
  return html`<tr><th scope="row">${address}</th><td class="number" data-label="Limit">${amount(limit)}</td>
<td data-label="Since">${when(changedAt)}</td><td data-label="Until">${until ?? ''}</td><td>${accountOf(from)}</td></tr>`
}

function leftOut(count: number): Html {
  if (count <= maxRows) return html``
  return html`<p>${amount(count - maxRows)} more are left out here. The lake has them: <code>credit_limit_changes</code>.</p>`
}

function limitText(limit: number | null): string {
  return limit === null ? '?' : amount(limit)
}

function when(time: string): Html {
  return html`<time datetime="${time}">${shown(time)}</time>`
}

const none = html`<p>None.</p>`
