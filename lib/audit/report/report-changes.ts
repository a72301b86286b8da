import { utcDate } from '../../core/clock.ts'
import { type Html, html } from '../../report/html.ts'
import { counted } from '../../report/words.ts'
import { type RevisionDiff, userOf, userText } from '../changes/history.ts'
import { type Decision, decisionsOf } from './decisions.ts'
import { momentOf } from './period.ts'
import { everything, type Filter, filterForm } from './report-filters.ts'
import { breakable, isFolded, kindText, sidesHtml } from './report-values.ts'

/** A decision with the revision that made it. */
export type Made = { diff: RevisionDiff; decision: Decision; at: number; id: string }

/** All that one person decided, in the order of time. */
export type PersonChanges = { key: string; name: string; made: Made[] }

/** People with a choice of their own in the filter; the others share one. */
const mostPeople = 12
const mostMonths = 12
const kinds = ['added', 'changed', 'removed'] as const

/**
 * All decisions by the people who made them, those with the most first; each by day, and within a day by kind. A first
 * revision, with nothing before it to compare with, decides nothing: its settings are where the record begins.
 */
export function changesByPerson(diffs: readonly RevisionDiff[]): PersonChanges[] {
  const made = diffs
    .filter(({ previous }) => previous !== null)
    .flatMap((diff) => {
      const at = momentOf(diff)
      return decisionsOf(diff.changes).map((decision, i) => ({
        ...{ diff, decision, at, id: `change-${diff.entry.sequence}-${i + 1}` },
      }))
    })
  return [...Map.groupBy(made, ({ diff }) => keyOf(diff))]
    .map(([key, some]) => ({ key, name: nameOf(some), made: some.toSorted(byDayAndKind) }))
    .toSorted((a, b) => b.made.length - a.made.length || (a.key < b.key ? -1 : 1))
}

function keyOf({ entry }: RevisionDiff): string {
  const { id, email, name } = userOf(entry)
  return id !== null ? `id ${id}` : email !== null ? `email ${email}` : name !== null ? `name ${name}` : ''
}

function nameOf(made: readonly Made[]): string {
  const newest = made.at(-1)
  return newest && keyOf(newest.diff) !== '' ? userText(newest.diff.entry) : 'Nobody is named'
}

function byDayAndKind(a: Made, b: Made): number {
  const day = ({ at }: Made) => Math.floor(at / 86_400_000)
  const kind = ({ decision }: Made) => kinds.indexOf(decision.kind)
  return day(a) - day(b) || kind(a) - kind(b) || a.at - b.at
}

function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 7)
}

function attentionOf({ decision: { severity } }: Made): string {
  return severity === null ? 'none' : severity === 'critical' ? 'some critical' : 'some'
}

function personValue(rank: number): string {
  return rank < mostPeople ? `p${rank + 1}` : 'others'
}

/** The filters that the changes can be narrowed by; a question with one answer is not asked. */
export function filtersOf(people: readonly PersonChanges[]): Filter[] {
  const all = people.flatMap(({ made }) => made)
  const choice = (value: string, title: string, some: readonly Made[]) => ({ value, title, count: some.length })
  const first = choice(everything, 'All', all)
  const shown = people.slice(0, mostPeople).map(({ name, made }, rank) => choice(personValue(rank), cut(name), made))
  const others = people.slice(mostPeople).flatMap(({ made }) => made)
  const months = [...Map.groupBy(all, ({ at }) => monthOf(at))].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const watched = all.filter(({ decision }) => decision.severity !== null)
  const critical = watched.filter(({ decision }) => decision.severity === 'critical')
  const filters: Filter[] = [
    {
      ...{ name: 'person', title: 'Who' },
      choices: [first, ...shown, ...(others.length > 0 ? [choice('others', 'Others', others)] : [])],
    },
    {
      ...{ name: 'kind', title: 'What' },
      choices: [
        first,
        ...kinds.map((kind) =>
          choice(
            kind,
            kind,
            all.filter(({ decision }) => decision.kind === kind),
          ),
        ),
      ],
    },
    {
      ...{ name: 'attention', title: 'Attention' },
      choices: [first, choice('some', 'watched', watched), choice('critical', 'critical', critical)],
    },
    {
      ...{ name: 'month', title: 'When' },
      choices: [first, ...months.slice(-mostMonths).map(([month, some]) => choice(month, month, some))],
    },
  ]
  return filters
    .map((filter) => ({ ...filter, choices: filter.choices.filter(({ count }) => count > 0) }))
    .filter(({ choices }) => choices.length > 2)
}

function cut(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name
}

/** The section on changes: a table for each person, and the filters over all of them. */
export function reportChanges(people: readonly PersonChanges[], filters: readonly Filter[]): Html {
  if (people.length === 0) return html`<p>No setting was changed.</p>`
  return html`<p>One row per decision: the items of a list are one row, and so are settings that changed in the same way in one
place. What is folded is whole in <a href="#full">Annex B</a>.</p>
${filters.length > 0 && filterForm(filters)}
${people.map(personTable)}`
}

function personTable({ name, made }: PersonChanges, rank: number): Html {
  const days = new Set(made.map(({ at }) => utcDate(at))).size
  const critical = made.filter(({ decision }) => decision.severity === 'critical').length
  return html`<details class="person" open data-person="${personValue(rank)}"><summary><h3><bdi>${name}</bdi></h3>
<span class="soft">${counted(made.length, 'change')} on ${counted(days, 'day')}${critical > 0 && `, ${critical} critical`}</span></summary>
<table class="changes"><caption class="aside">What <bdi>${cut(name)}</bdi> changed, by day</caption>
<thead><tr><th scope="col">Setting</th><th scope="col">When</th><th scope="col">Change</th><th scope="col">Before</th><th scope="col">After</th><th scope="col">Rev.</th></tr></thead>
<tbody>${made.map(decisionRow)}</tbody></table></details>`
}

function decisionRow(made: Made): Html {
  const { decision, at, diff, id } = made
  const { path, kind, severity, matches } = decision
  const { before, after } = sidesHtml(decision)
  const { sequence, revision } = diff.entry
  return html`<tr data-kind="${kind}" data-attention="${attentionOf(made)}" data-month="${monthOf(at)}">
<th scope="row">${breakable(path)}${matches.map(({ severity, why }) => html`<span class="why ${severity}">${why}</span>`)}</th>
<td data-label="When">${timeOf(at)}</td>
<td data-label="Change">${kindText(decision)}${severity !== null && html` <span class="tag ${severity}">${severity}</span>`}</td>
<td class="before" data-label="Before">${before}</td><td class="after" data-label="After">${after}</td>
<td data-label="Revision"><a href="#entry-${sequence}">${revision}</a>${isFolded(decision) && html`<a class="paper" href="#${id}"> B</a>`}</td></tr>`
}

function timeOf(at: number): Html {
  const text = new Date(at).toISOString()
  return html`<time datetime="${text}">${text.slice(0, 10)} <span class="hour">${text.slice(11, 16)}</span></time>`
}
