import { type Html, html } from '../html.ts'
import { factList, type PageSection, shown } from '../page.ts'
import { amount, counted, duration } from '../words.ts'
import { attentionSection } from './attention.ts'
import { costSection } from './cost-section.ts'
import type { NightFacts, StreamNight } from './facts.ts'
import { whyNothing } from './look.ts'
import { runsSection } from './runs-section.ts'
import { asideSection, driftSection } from './set-aside-sections.ts'
import { sparkStyle } from './sparkline.ts'
import { arrivalWords, verdictOf } from './verdict.ts'

/** The sections of "Is the data in?". `place` ends the commands that are shown, as ` --local=./folder`; on AWS nothing does. */
export function nightSections(facts: NightFacts, { place = '' }: { place?: string | undefined } = {}): PageSection[] {
  const answer = { id: 'in', title: 'Is the data in?', body: html`${verdict(facts)}${body(facts)}` }
  if (whyNothing(facts.look) !== null) return [answer]
  return [
    answer,
    attentionSection(facts, place),
    runsSection(facts),
    asideSection(facts, place),
    driftSection(facts),
    costSection(facts),
  ]
}

/** The style of these sections. */
export const nightStyle = `${sparkStyle}
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.verdict { white-space: pre-line; }
.tag.good { color: var(--good); }
.plain { padding-left: 1.2rem; }
.plain li { margin: .4rem 0; }
.whole { white-space: nowrap; }
.streams thead th { white-space: normal; }
@media (min-width: 60rem) { .streams time, .streams .soft { white-space: nowrap; } }
@media (min-width: 40.01rem) and (max-width: 50rem) { .streams th, .streams td { padding-inline: .3rem; min-width: 3.4rem; } }
details { margin-top: .75rem; }
summary { cursor: pointer; color: var(--info); }
@media (max-width: 40rem) { td.number, th.number { text-align: left; } }
`

function verdict(facts: NightFacts): Html {
  const { isGood, text } = verdictOf(facts)
  return html`<p class="verdict${isGood ? '' : ' bad'}">${text}</p>`
}

function body(facts: NightFacts): Html | null {
  const { look, streams, schedules } = facts
  if (whyNothing(look) !== null) return null
  const { lastRun } = look
  const wanted = streams.filter(({ arrival }) => arrival !== 'unused')
  return html`${factList([
    ['Streams that are in', `${wanted.filter(({ arrival }) => arrival === 'in').length} of ${wanted.length}`],
    ['Last run', lastRun ? lastRun.status : 'none'],
    ['It ended', lastRun ? dayAndTime(new Date(lastRun.finishedAt).toISOString()) : ''],
    ['Records', amount(streams.reduce((sum, { records }) => sum + (records ?? 0), 0))],
    ['Changed in the last scans', amount(streams.reduce((sum, { changed }) => sum + (changed ?? 0), 0))],
    ['In quarantine', amount(streams.reduce((sum, { quarantined }) => sum + (quarantined ?? 0), 0))],
  ])}${lastRun && html`<p class="soft">The last run is ${lastRun.runId}.</p>`}
${streamTable(facts)}
${schedules.length === 0 && html`<p class="soft">No schedule is known here: a stream counts as in when its last scan ended well, however long ago.</p>`}`
}

/** A time that may break between its day and its time of day, and nowhere else. */
function dayAndTime(time: string): Html {
  return html`${shown(time)
    .split(' ')
    .map((part) => html`<span class="whole">${part}</span> `)}`
}

function streamTable({ streams, schedules }: NightFacts): Html {
  return html`<table class="streams"><caption>How each stream stands. Its age is the time since its last whole scan began.</caption>
<thead><tr><th scope="col">Stream</th><th scope="col">Is it in?</th><th scope="col">Age</th><th scope="col">Last scan ended</th>
<th scope="col" class="number">Records</th><th scope="col" class="number">Changed</th><th scope="col" class="number">Quarantined</th></tr></thead>
<tbody>${streams.map((stream) => streamRow(stream, schedules.length > 0))}</tbody></table>`
}

function streamRow(night: StreamNight, isScheduled: boolean): Html {
  const { stream, status, lastScan, lagSeconds, hoursAllowed, records, changed, quarantined, reason } = night
  const age = lagSeconds === null ? '' : duration(lagSeconds * 1000)
  const allowed =
    hoursAllowed === null ? (isScheduled ? 'on no schedule' : '') : `${counted(hoursAllowed, 'hour')} allowed`
  return html`<tr><th scope="row">${stream}${reason !== null && html`<span class="why">${reason}</span>`}</th>
<td data-label="Is it in?">${arrivalTag(night)}${status !== null && status !== 'complete' && html` <span class="why">${status}</span>`}</td>
<td data-label="Age">${age}${allowed !== '' && html` <span class="why soft">${allowed}</span>`}</td>
<td data-label="Last scan ended">${lastScan && html`<time datetime="${lastScan.completedAt}">${shown(lastScan.completedAt)}</time>`}</td>
${[['Records', records] as const, ['Changed', changed] as const, ['Quarantined', quarantined] as const].map(
  ([label, value]) => html`<td class="number" data-label="${label}">${value === null ? '' : amount(value)}</td>`,
)}</tr>`
}

const tones = { in: 'good', late: 'critical', trouble: 'critical', missing: 'warning', unused: 'soft' } as const

function arrivalTag({ arrival }: StreamNight): Html {
  return html`<span class="tag ${tones[arrival]}">${arrivalWords[arrival]}</span>`
}
